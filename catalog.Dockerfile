# SPDX-FileCopyrightText: The platformapp authors
# SPDX-License-Identifier: Apache-2.0

# The catalog that a CatalogSource or a ClusterCatalog serves. opm has the version that tools/opm pins; both are
# moved together.
FROM quay.io/operator-framework/opm:v1.73.0@sha256:e5a6220603fb4504d58c6e3e488386b817e3695c906a62ee0370b5faedc3799a
LABEL operators.operatorframework.io.index.configs.v1=/configs
COPY catalog/platformapp /configs/platformapp
# No cache is built in: one package is read in a moment, a cache differs from build to build, and it would have to be
# writable for whatever user the cluster chooses.
USER 1001
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs"]
