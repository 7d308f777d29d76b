// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"platformapp/api/egplatform/v1alpha1"
	"platformapp/internal/resources"
	"platformapp/test/audit"
)

// attempt is an EGApp that its author means to gain by.
type attempt struct {
	Name string         `json:"name"`
	Spec map[string]any `json:"spec"`
	// Error is for the tests that look at the words of the refusal.
	Error string `json:"error"`
	// object is the name of the EGApp, if it matters.
	object   string
	metadata map[string]any
}

// attempts returns the table that three other packages prove row by row to be refused, and attempts that are not refused
// since the EGApp is a good one, or that the API server cuts down to one.
func attempts(t *testing.T, victim string) []attempt {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "internal", "resources", "testdata", "attacks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all []attempt
	if err := yaml.UnmarshalStrict(raw, &all); err != nil {
		t.Fatal(err)
	}
	own := func(name, object, metadata, spec string) {
		a := attempt{Name: name, object: object}
		if err := yaml.UnmarshalStrict([]byte(metadata), &a.metadata); err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict([]byte(spec), &a.Spec); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	own("the name of somebody's Deployment", "theirs", `{}`, `{}`)
	own("the name of somebody's Service", "their-service", `{}`, `{}`)
	own("the name of somebody's Ingress", "their-ingress", `{}`, `{expose: {type: Ingress, hosts: [shop.example.com]}}`)
	own("the name that somebody's ConfigMap takes", "their-config", `{}`, `{envFrom: [{configMapRef: {name: none, optional: true}}]}`)
	own("consent to adoption on the EGApp", "", `{annotations: {platform.evillgenius.com/adopt-by: theirs}}`, `{}`)
	own("marks of the operator on the EGApp", "",
		`{labels: {platform.evillgenius.com/managed-by: platformapp, platform.evillgenius.com/owner-uid: "1", platform.evillgenius.com/egapp: theirs}}`, `{}`)
	own("somebody's Deployment as the owner", "",
		`{ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: theirs, uid: "00000000-0000-0000-0000-000000000001", controller: true}]}`, `{}`)
	own("labels of somebody's pods on the pods", "", `{}`, `{podTemplatePatch: {metadata: {labels: {app: theirs}}}}`)
	own("an account that does not consent", "", `{}`, `{serviceAccountName: powerful}`)
	own("an account that does not consent, by the patch too", "", `{}`,
		`{serviceAccountName: powerful, podTemplatePatch: {spec: {serviceAccountName: powerful, automountServiceAccountToken: true}}}`)
	own("addresses of others, by fields that an EGApp lacks", "", `{}`,
		`{service: {type: ClusterIP, externalIPs: [192.0.2.1], externalName: kubernetes.default.svc, loadBalancerIP: 192.0.2.1, selector: {app: theirs}}}`)
	own("a port of the node", "", `{}`, `{service: {type: NodePort}}`)
	own("a load balancer", "", `{}`, `{service: {type: LoadBalancer}}`)
	own("a gateway elsewhere", "", `{}`, fmt.Sprintf(
		`{expose: {type: HTTPRoute, hosts: [shop.example.com], httpRoute: {gatewayRef: {name: gateway, namespace: %s}}}}`, victim))
	own("clients elsewhere", "", `{}`, fmt.Sprintf(`{networkPolicy: {isolation: Listed, from: [{app: theirs, namespace: %s}]}}`, victim))
	own("a Secret as a certificate", "", `{}`, `{expose: {type: Ingress, hosts: [a.example.com], ingress: {tlsSecretName: password}}}`)
	own("a certificate's Secret elsewhere", "", `{}`, fmt.Sprintf(
		`{expose: {type: Ingress, hosts: [b.example.com], ingress: {tlsSecretName: %s/password}}}`, victim))
	own("metrics of others", "", `{}`, `{monitoring: {port: http, labels: {release: prometheus}}}`)
	own("a Secret in the environment and in a file", "", `{}`,
		`{envFrom: [{secretRef: {name: password}}], files: [{mountPath: /secret, secret: {secretName: password}}]}`)
	own("as many pods as can be written", "", `{}`, `{replicaCount: 2147483647}`)
	own("everything at once", "", `{}`, `{appId: theirs, environment: prod, autoscaling: {maxReplicas: 1000, targetCPUUtilizationPercentage: 1},
		rollout: {strategy: Recreate}, networkPolicy: {isolation: Namespace}, monitoring: {port: http}}`)
	return all
}

// S2, S6, S7. A user who may write the EGApps of a namespace, and nothing else, writes all that may be of use. Afterwards
// the user may do what the user could before; of what was in the cluster nothing has changed; and what the operator made
// belongs to the EGApps, in their namespace. It runs beside no other test, which would change the cluster too.
func TestTheAuthorOfEGAppsGainsNothing(t *testing.T) {
	s := newScene(t)
	victim := s.newNamespace()
	s.furnish(s.namespace)
	s.furnish(victim)
	_, operatorsUser := s.start([]string{victim}, "--max-concurrent-reconciles=4")
	author := s.author()
	before, had := s.everything(), author.rights(s, victim)

	stored := 0
	for i, a := range attempts(t, victim) {
		app := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{}}}
		maps.Copy(app.Object["metadata"].(map[string]any), a.metadata)
		spec := map[string]any{"framework": "java", "environment": "stage", "replicaCount": int64(3)}
		maps.Copy(spec, a.Spec)
		app.Object["spec"] = spec
		app.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("EGApp"))
		app.SetNamespace(s.namespace)
		if app.SetName(a.object); a.object == "" {
			app.SetName(fmt.Sprintf("attempt-%d", i))
		}
		switch err := author.Create(t.Context(), app); {
		case err == nil:
			stored++
		case !apierrors.IsInvalid(err):
			t.Errorf("%s: the API server answers %v", a.Name, err)
		}
	}
	if stored < 60 {
		t.Errorf("%d of the attempts are stored", stored)
	}
	author.triesToWriteElsewhere(s, victim)
	var apps v1alpha1.EGAppList
	s.eventually("the operator has looked at every EGApp", func(ctx context.Context) error {
		if err := s.admin.List(ctx, &apps, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		for _, app := range apps.Items {
			if app.Status.ObservedGeneration != app.Generation {
				return fmt.Errorf("%s is not looked at", app.Name)
			}
		}
		return nil
	})

	if diff := cmp.Diff(had, author.rights(s, victim)); diff != "" {
		t.Errorf("the author may do other things than before (-before +after):\n%s", diff)
	}
	s.onlyChildrenAreNew(before, s.everything(), apps.Items)
	s.deploymentsAreHarmless()
	s.operatorKeptTo(operatorsUser)
}

// furnish puts what an author of EGApps may not touch into a namespace.
func (s *scene) furnish(namespace string) {
	s.Helper()
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	labels := map[string]string{"app": "theirs"}
	pathType := networkingv1.PathTypePrefix
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
		Name: "their-service", Port: networkingv1.ServiceBackendPort{Number: 80},
	}}
	s.create(
		&corev1.Secret{ObjectMeta: named("password"), StringData: map[string]string{"password": "hunter2"}},
		&corev1.ConfigMap{ObjectMeta: named("their-config-runtime-env"), Data: map[string]string{"a": "b"}},
		&corev1.ServiceAccount{ObjectMeta: named("powerful")},
		&rbacv1.RoleBinding{
			ObjectMeta: named("powerful"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "powerful"}},
		},
		&corev1.Service{ObjectMeta: named("their-service"), Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}}},
		&networkingv1.Ingress{ObjectMeta: named("their-ingress"), Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{
			Host: "shop.example.com", IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
				Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: &pathType, Backend: backend}},
			}},
		}}}},
		&appsv1.Deployment{ObjectMeta: named("theirs"), Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/theirs:1"}}},
			},
		}},
	)
}

// author may write the EGApps of the scene's namespace and nothing else.
type author struct {
	client.Client
	clientset kubernetes.Interface
}

func (s *scene) author() author {
	s.Helper()
	_, config := s.account("author")
	s.allow("author", false, []rbacv1.PolicyRule{{
		APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"egapps"},
		Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
	}})
	var a author
	var err error
	a.Client, err = client.New(config, client.Options{Scheme: cluster.scheme})
	s.must(err)
	a.clientset, err = kubernetes.NewForConfig(config)
	s.must(err)
	// The authorizer takes a moment to know of the role.
	s.eventually("the author may list EGApps", func(ctx context.Context) error {
		return a.List(ctx, &v1alpha1.EGAppList{}, client.InNamespace(s.namespace))
	})
	return a
}

// rights returns what the author may do by namespace, in the words of the API server: what a self subject rules review
// says, and how single questions are answered that matter most.
func (a author) rights(s *scene, victim string) map[string][]string {
	s.Helper()
	rights := map[string][]string{}
	for _, namespace := range []string{s.namespace, victim, metav1.NamespaceDefault, metav1.NamespaceSystem} {
		review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
		s.must(a.clientset.AuthorizationV1().RESTClient().Post().Resource("selfsubjectrulesreviews").Body(review).Do(s.Context()).Into(review))
		for _, rule := range review.Status.ResourceRules {
			rights[namespace] = append(rights[namespace], fmt.Sprint(rule))
		}
		for _, rule := range review.Status.NonResourceRules {
			rights[namespace] = append(rights[namespace], fmt.Sprint(rule))
		}
		for _, question := range []authorizationv1.ResourceAttributes{
			{Verb: "get", Resource: "secrets"}, {Verb: "create", Resource: "pods"}, {Verb: "create", Resource: "pods", Subresource: "exec"},
			{Verb: "create", Resource: "serviceaccounts", Subresource: "token"}, {Verb: "impersonate", Resource: "serviceaccounts"},
			{Verb: "create", Resource: "rolebindings", Group: rbacv1.GroupName}, {Verb: "patch", Resource: "deployments", Group: "apps"},
		} {
			question.Namespace = namespace
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &question}}
			s.must(a.clientset.AuthorizationV1().RESTClient().Post().Resource("selfsubjectaccessreviews").Body(review).Do(s.Context()).Into(review))
			if review.Status.Allowed {
				s.Errorf("the author may %s %s/%s in %s", question.Verb, question.Resource, question.Subresource, namespace)
			}
		}
		slices.Sort(rights[namespace])
	}
	if !strings.Contains(fmt.Sprint(rights[s.namespace]), "egapps") {
		s.Errorf("the reviews do not tell of the author's one right: %v", rights)
	}
	return rights
}

// triesToWriteElsewhere fails when the author may write a status, by which the operator would be misled, or an EGApp of
// others.
func (a author) triesToWriteElsewhere(s *scene, victim string) {
	s.Helper()
	app := &v1alpha1.EGApp{ObjectMeta: s.in("attempt-0")}
	lie := client.RawPatch(types.MergePatchType, []byte(`{"status":{"observedGeneration":1,"image":"x"}}`))
	elsewhere := &v1alpha1.EGApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: victim, Name: "attempt"},
		Spec:       v1alpha1.EGAppSpec{Framework: v1alpha1.FrameworkGo, Environment: v1alpha1.EnvironmentDev},
	}
	for what, err := range map[string]error{
		"write a status":             a.Status().Patch(s.Context(), app, lie),
		"make an EGApp of others":    a.Create(s.Context(), elsewhere),
		"list the EGApps of all":     a.List(s.Context(), &v1alpha1.EGAppList{}),
		"read what the operator has": a.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "operator"}, &corev1.ServiceAccount{}),
	} {
		if !apierrors.IsForbidden(err) {
			s.Errorf("the author tries to %s and is answered %v", what, err)
		}
	}
}

// onlyChildrenAreNew fails when an object that was there has changed, and when a new one is no child of an EGApp.
func (s *scene) onlyChildrenAreNew(before, after map[thing]metav1.PartialObjectMetadata, apps []v1alpha1.EGApp) {
	s.Helper()
	for it, was := range before {
		if is, ok := after[it]; !ok || is.ResourceVersion != was.ResourceVersion || is.UID != was.UID {
			s.Errorf("%v is not what it was", it)
		}
	}
	uids := map[types.UID]bool{}
	for _, app := range apps {
		uids[app.UID] = true
	}
	kinds := map[string]int{}
	for it, object := range after {
		if _, isOld := before[it]; isOld || it.kind == "EGApp" {
			continue
		}
		kinds[it.kind]++
		isKindOfChild := slices.ContainsFunc(resources.Kinds, func(k resources.Kind) bool { return k.Name == it.kind })
		controller := metav1.GetControllerOfNoCopy(&object)
		if !isKindOfChild || it.namespace != s.namespace || controller == nil || !uids[controller.UID] {
			s.Errorf("%v is new and no child of an EGApp", it)
		}
	}
	for _, kind := range []string{"Deployment", "Service", "Ingress", "HTTPRoute", "NetworkPolicy", "ServiceMonitor", "PodDisruptionBudget", "HorizontalPodAutoscaler"} {
		if kinds[kind] == 0 {
			s.Errorf("there is no new %s: this test sees nothing", kind)
		}
	}
}

// deploymentsAreHarmless fails when pods would run as an account that does not consent, or a Service leads to others.
func (s *scene) deploymentsAreHarmless() {
	s.Helper()
	ours := []client.ListOption{client.InNamespace(s.namespace), client.MatchingLabels{"platform.evillgenius.com/managed-by": "platformapp"}}
	var deployments appsv1.DeploymentList
	s.must(s.admin.List(s.Context(), &deployments, ours...))
	for _, d := range deployments.Items {
		if spec := d.Spec.Template.Spec; spec.ServiceAccountName != "" || spec.DeprecatedServiceAccount != "" {
			s.Errorf("the pods of %s run as %s", d.Name, spec.ServiceAccountName)
		}
		if got := d.Spec.Selector.MatchLabels; !maps.Equal(got, map[string]string{"platform.evillgenius.com/egapp": d.Name}) {
			s.Errorf("%s selects the pods %v", d.Name, got)
		}
	}
	var services corev1.ServiceList
	s.must(s.admin.List(s.Context(), &services, ours...))
	for _, service := range services.Items {
		if !maps.Equal(service.Spec.Selector, map[string]string{"platform.evillgenius.com/egapp": service.Name}) {
			s.Errorf("the Service %s selects the pods %v", service.Name, service.Spec.Selector)
		}
		if len(service.Spec.ExternalIPs) > 0 || service.Spec.ExternalName != "" || service.Spec.LoadBalancerIP != "" {
			s.Errorf("the Service %s has addresses of others: %v", service.Name, service.Spec)
		}
	}
}

// operatorKeptTo fails when the operator asked for a Secret, wrote a right, an account or a workload that is no child, or
// wrote anywhere but in the scene's namespace.
func (s *scene) operatorKeptTo(user string) {
	s.Helper()
	s.must(audit.Await(s.Context(), cluster.auditLog, s.clientset))
	requests, err := audit.Read(cluster.auditLog, user)
	s.must(err)
	audit.ExpectNone(s, "requests about what the operator has no business with", audit.Filter(requests, func(r audit.Request) bool {
		resource, _, _ := strings.Cut(r.Resource, "/")
		isRead := r.Verb == "list" || r.Verb == "watch"
		return resource == "secrets" || strings.Contains(r.Resource, "rbac.authorization.k8s.io") ||
			!isRead && (resource == "serviceaccounts" || resource == "pods" || resource == "replicasets.apps")
	}))
	audit.ExpectNone(s, "writes outside of the namespace of the EGApps", audit.Filter(requests, func(r audit.Request) bool {
		return r.IsWrite() && r.Namespace != s.namespace
	}))
	audit.ExpectNone(s, "requests that were refused for want of a right", audit.Filter(requests, audit.Request.IsRefused))
	if writes := audit.Filter(requests, audit.Request.IsWrite); len(writes) < 100 {
		s.Errorf("%d writes of the operator are in the audit log: is it read?", len(writes))
	}
}
