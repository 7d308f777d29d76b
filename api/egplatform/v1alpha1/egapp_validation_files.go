// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	pathpkg "path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateFiles judges what is mounted and where.
func validateFiles(path *field.Path, files []File) field.ErrorList {
	errs := atMost(path, len(files), 64)
	seen := map[string]bool{}
	for i, file := range files {
		item := path.Index(i)
		errs = append(errs, validateMountPath(item.Child("mountPath"), file.MountPath)...)
		if seen[file.MountPath] {
			errs = append(errs, field.Duplicate(item.Child("mountPath"), file.MountPath))
		}
		seen[file.MountPath] = true
		errs = append(errs, noLongerThan(item.Child("subPath"), file.SubPath, 1024)...)
		errs = append(errs, descendingPath(item.Child("subPath"), file.SubPath)...)
		errs = append(errs, validateFileSource(item, file)...)
	}
	return errs
}

func validateMountPath(path *field.Path, mountPath string) field.ErrorList {
	errs := noLongerThan(path, mountPath, 1024)
	switch {
	case mountPath == "":
		errs = append(errs, field.Required(path, "give the path to mount it at"))
	case !strings.HasPrefix(mountPath, "/") || strings.Contains(mountPath, ":"):
		errs = append(errs, field.Invalid(path, mountPath, "must be an absolute path without ':'"))
	case mountPath == "/":
		errs = append(errs, field.Invalid(path, mountPath, "must not be '/', which is the image itself"))
	case pathpkg.Clean(mountPath) != mountPath:
		errs = append(errs, field.Invalid(path, mountPath, "must be written in its shortest form, which is "+pathpkg.Clean(mountPath)))
	}
	return errs
}

// descendingPath refuses a path that leads out of a volume.
func descendingPath(path *field.Path, value string) field.ErrorList {
	switch {
	case strings.HasPrefix(value, "/"):
		return field.ErrorList{field.Invalid(path, value, "must be a relative path")}
	case slices.Contains(strings.Split(value, "/"), ".."):
		return field.ErrorList{field.Invalid(path, value, "must not contain '..'")}
	}
	return nil
}

func validateFileSource(path *field.Path, file File) field.ErrorList {
	var errs field.ErrorList
	given := 0
	if source := file.ConfigMap; source != nil {
		given++
		at := path.Child("configMap")
		errs = append(errs, objectName(at.Child("name"), source.Name)...)
		errs = append(errs, validateKeyFiles(at, source.Items, source.DefaultMode)...)
	}
	if source := file.Secret; source != nil {
		given++
		at := path.Child("secret")
		errs = append(errs, objectName(at.Child("secretName"), source.SecretName)...)
		errs = append(errs, validateKeyFiles(at, source.Items, source.DefaultMode)...)
	}
	if source := file.PersistentVolumeClaim; source != nil {
		given++
		errs = append(errs, objectName(path.Child("persistentVolumeClaim", "claimName"), source.ClaimName)...)
	}
	if source := file.EmptyDir; source != nil {
		given++
		at := path.Child("emptyDir")
		errs = append(errs, optionalOneOf(at.Child("medium"), source.Medium, []EmptyDirMedium{EmptyDirMediumDisk, EmptyDirMediumMemory})...)
		if size := source.SizeLimit; size != nil && size.Sign() < 0 {
			errs = append(errs, field.Invalid(at.Child("sizeLimit"), size.String(), "must be greater than or equal to 0"))
		}
	}
	return append(errs, exactlyOne(path, given, "configMap, secret, persistentVolumeClaim and emptyDir")...)
}

// validateKeyFiles judges which keys of a ConfigMap or Secret become which files.
func validateKeyFiles(path *field.Path, items []corev1.KeyToPath, defaultMode *int32) field.ErrorList {
	errs := atMost(path.Child("items"), len(items), 256)
	errs = append(errs, fileMode(path.Child("defaultMode"), defaultMode)...)
	for i, item := range items {
		at := path.Child("items").Index(i)
		errs = append(errs, configKey(at.Child("key"), item.Key)...)
		errs = append(errs, fileMode(at.Child("mode"), item.Mode)...)
		switch {
		case item.Path == "":
			errs = append(errs, field.Required(at.Child("path"), "give the path of the file"))
		case strings.HasPrefix(item.Path, ".."):
			errs = append(errs, field.Invalid(at.Child("path"), item.Path, "must not begin with '..'"))
		default:
			errs = append(errs, descendingPath(at.Child("path"), item.Path)...)
		}
	}
	return errs
}

func fileMode(path *field.Path, mode *int32) field.ErrorList {
	if mode == nil || *mode >= 0 && *mode <= 0o777 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *mode, "must be from 0 to 511, which is 0777")}
}
