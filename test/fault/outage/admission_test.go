// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"platformapp/api/appstatus"
	devopsv1 "platformapp/api/devops/v1"
	"platformapp/api/egplatform/v1alpha1"
	"platformapp/test/audit"
)

// mutatedDeadline is the progress deadline that a policy gives to Deployments, in seconds.
const mutatedDeadline = 77

// obstacle is something of a cluster's administrators that comes and goes.
type obstacle struct {
	class, name string
	// put makes it, and take takes it away; inForce fails unless the API server goes by it.
	put, take func(s *scene, namespace string)
	inForce   func(ctx context.Context, s *scene, namespace string) error
	// provoke changes each application once so that it meets it.
	provoke func(s *scene, apps []application)
	// reason is what the applications then report, and words are part of the message; empty when the change is carried out,
	// by changed Deployments.
	reason, words string
}

// admissionPlans let administrators refuse and change what the operator and the control plane write, for a while.
func admissionPlans() [][]plan {
	var plans []plan
	for _, o := range obstacles() {
		plans = append(plans, plan{
			class: o.class, name: "outage/admission/" + o.name, kinds: bothKinds,
			run: func(s *scene) { obstructed(s, o) },
		})
	}
	return [][]plan{plans}
}

func obstacles() []obstacle {
	renew := func(s *scene, apps []application) {
		for _, app := range apps {
			s.edit(app, func() { setImage(app, newImage) })
		}
	}
	relax := func(s *scene, apps []application) {
		for _, app := range apps {
			s.edit(app, func() {
				setImage(app, newImage)
				if egapp, ok := app.(*v1alpha1.EGApp); ok {
					egapp.Spec.SecurityProfile = v1alpha1.SecurityProfileBaseline
				}
			})
		}
	}
	label := func(s *scene, apps []application) { s.label(apps, "met") }
	object := func(build func(namespace string) []client.Object) (put, take func(*scene, string)) {
		return func(s *scene, namespace string) { s.create(build(namespace)...) },
			func(s *scene, namespace string) {
				for _, o := range build(namespace) {
					s.must(client.IgnoreNotFound(s.admin.Delete(s.Context(), o)))
				}
			}
	}
	putPolicy, takePolicy := object(func(namespace string) []client.Object {
		return denial(namespace, "object.metadata.namespace == 'kube-system'", "frozen for the holidays")
	})
	putMutation, takeMutation := object(func(namespace string) []client.Object {
		return mutation(namespace, fmt.Sprintf(
			"Object{spec: Object.spec{revisionHistoryLimit: 3, progressDeadlineSeconds: %d}}", mutatedDeadline))
	})
	putQuota, takeQuota := object(func(namespace string) []client.Object {
		return []client.Object{&corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pods"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
		}}
	})
	putLimits, takeLimits := object(func(namespace string) []client.Object {
		return []client.Object{&corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limits"},
			Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
				// Without a default of its own; a maximum is a default for what names no limit.
				Type:                 corev1.LimitTypeContainer,
				MaxLimitRequestRatio: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
			}}},
		}}
	})
	enforce := func(level string) func(*scene, string) {
		return func(s *scene, namespace string) {
			object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
			s.edit(object, func() { object.Labels["pod-security.kubernetes.io/enforce"] = level })
		}
	}
	return []obstacle{
		{
			class: "policy denies", name: "policy-denies", put: putPolicy, take: takePolicy, inForce: refusesDeployments,
			provoke: label, reason: appstatus.ReasonRefused, words: "frozen for the holidays",
		},
		{
			class: "policy mutates", name: "policy-mutates", put: putMutation, take: takeMutation, inForce: changesDeployments,
			provoke: label,
		},
		{
			class: "quota", name: "quota", put: putQuota, take: takeQuota, inForce: refusesPods,
			provoke: renew, reason: appstatus.ReasonQuotaExceeded, words: "exceeded quota: pods",
		},
		{
			class: "limit range", name: "limit-range", put: putLimits, take: takeLimits, inForce: refusesPods,
			provoke: renew, reason: appstatus.ReasonPodRefused, words: "cpu max limit to request ratio per Container is 1",
		},
		{
			class: "Pod Security", name: "pod-security", put: enforce("restricted"), take: enforce("privileged"), inForce: refusesPods,
			provoke: relax, reason: appstatus.ReasonPodRefused, words: "violates PodSecurity",
		},
	}
}

// refusesDeployments fails unless writes of Deployments are refused.
func refusesDeployments(ctx context.Context, s *scene, namespace string) error {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "orders"}}
	return refused(s.admin.Patch(ctx, deployment, dryPatch, client.DryRunAll), "denied request")
}

// changesDeployments fails unless writes of Deployments are changed.
func changesDeployments(ctx context.Context, s *scene, namespace string) error {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "orders"}}
	err := s.admin.Patch(ctx, deployment, dryPatch, client.DryRunAll)
	if err == nil && *deployment.Spec.ProgressDeadlineSeconds != mutatedDeadline {
		err = errors.New("the Deployment is as it was")
	}
	return err
}

// refusesPods fails unless a pod that asks for nothing in particular is refused.
func refusesPods(ctx context.Context, s *scene, namespace string) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: image}}},
	}
	return refused(s.admin.Create(ctx, pod, client.DryRunAll), "forbidden")
}

// setImage changes the image of an application of either kind.
func setImage(app application, image string) {
	switch app := app.(type) {
	case *v1alpha1.EGApp:
		app.Spec.Image = image
	case *devopsv1.DemoMicroService:
		app.Spec.Image = image
	}
}

// denial is a policy for the Deployments of a namespace, by an expression that has to be true of them, and its binding.
func denial(namespace, expression, message string) []client.Object {
	meta := metav1.ObjectMeta{Name: namespace}
	return []client.Object{
		&admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(admissionregistrationv1.Fail),
			MatchConstraints: deploymentsOf(namespace),
			Validations:      []admissionregistrationv1.Validation{{Expression: expression, Message: message}},
		}},
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: meta,
			Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: namespace, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			},
		},
	}
}

// mutation is a policy that changes the Deployments of a namespace as an apply configuration says, and its binding.
func mutation(namespace, configuration string) []client.Object {
	meta := metav1.ObjectMeta{Name: namespace}
	return []client.Object{
		&admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			FailurePolicy:      new(admissionregistrationv1.Fail),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			MatchConstraints:   deploymentsOf(namespace),
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: configuration},
			}},
		}},
		&admissionregistrationv1.MutatingAdmissionPolicyBinding{
			ObjectMeta: meta, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: namespace},
		},
	}
}

func deploymentsOf(namespace string) *admissionregistrationv1.MatchResources {
	return &admissionregistrationv1.MatchResources{
		NamespaceSelector: inNamespace(namespace), ObjectSelector: &metav1.LabelSelector{},
		MatchPolicy: new(admissionregistrationv1.Equivalent),
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
		}}},
	}
}

// obstructed puts an obstacle in the way of applications that run, and takes it away.
func obstructed(s *scene, o obstacle) {
	namespace := s.newNamespace("obstructed")
	op, a := s.startOperator([]string{namespace})
	apps := s.applicationsIn(namespace)
	before := s.children(namespace)
	o.put(s, namespace)
	s.eventually(patience, "it is in force", func(ctx context.Context) error { return o.inForce(ctx, s, namespace) })
	start, provoked := len(s.requestsOf(a)), time.Now()
	o.provoke(s, apps)
	if o.reason == "" {
		s.isMutated(a, apps, before)
	} else {
		s.isTold(o, apps)
	}
	s.pauseFor(revokedPeriod())
	requests := s.requestsOf(a)[start:]
	if len(requests) > requestBudget {
		s.violate("", "%d requests meanwhile", len(requests))
	}
	s.expectPatient(requests, time.Since(provoked))
	s.expectSame(before, s.children(namespace))

	o.take(s, namespace)
	removed := time.Now()
	s.label(apps, "free")
	took := s.awaitLabelled(apps, before)
	s.Logf("all is as asked for %s after it is gone", time.Since(removed))
	if took > recovery {
		s.violate("", "all is as asked for only %s after it is gone", took)
	}
	s.expectSame(before, s.children(namespace))
	s.expectQuiet(a)
	s.expectSound(op, 0)
}

// isTold waits until each application tells what is in its way.
func (s *scene) isTold(o obstacle, apps []application) {
	s.Helper()
	for _, app := range apps {
		ready, took := s.awaitCondition(app, o.reason)
		s.Logf("%s reports %s after %s: %s", app.GetName(), o.reason, took, ready.Message)
		if took > convergence {
			s.violate(kindOf(app), "%s tells only after %s that it is refused", app.GetName(), took)
		}
		if !strings.Contains(ready.Message, o.words) {
			s.violate(kindOf(app), "%s does not tell why: %s", app.GetName(), ready.Message)
		}
	}
}

// isMutated waits until the change is carried out by Deployments that the policy has changed, and tells when the operator then
// does not leave them at that.
func (s *scene) isMutated(a account, apps []application, before map[string]child) {
	s.Helper()
	took := s.awaitLabelled(apps, before)
	s.Logf("the change is carried out after %s", took)
	if took > convergence {
		s.violate("", "the change is carried out only after %s", took)
	}
	for _, app := range apps {
		deployment := &appsv1.Deployment{}
		s.must(s.admin.Get(s.Context(), client.ObjectKeyFromObject(app), deployment))
		if *deployment.Spec.ProgressDeadlineSeconds != mutatedDeadline {
			s.violate(kindOf(app), "the Deployment of %s is not as the policy has it", app.GetName())
		}
	}
	s.expectQuiet(a)
}

// expectPatient tells of children that were written more often than they may be for the one change of their application: for
// the change, in the turn that the status brings which then tells of a refusal, and once a minute after.
func (s *scene) expectPatient(requests []audit.Request, elapsed time.Duration) {
	s.Helper()
	most, writes := 2+int(elapsed/time.Minute), map[string]int{}
	for _, r := range requests {
		isStatus := slices.ContainsFunc(ownKinds, func(kind string) bool { return strings.HasPrefix(r.Resource, kind) })
		if r.IsWrite() && !isStatus {
			writes[r.Resource+" "+r.Name]++
		}
	}
	for child, n := range writes {
		if n > most {
			s.violate("", "%s is written %d times in %s for one change, want at most %d", child, n, elapsed, most)
		}
	}
}
