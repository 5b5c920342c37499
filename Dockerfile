# The program in an image, by the steps of scripts/package.
#
# Not built by the tests, nor where this was written: there was no Docker daemon. What it does is what scripts/package
# does, and that was run.
#
#   docker build -t registry.example.net/shipshape:0.1.0 .
#   docker run --rm -e SHIPSHAPE_URI -v "$PWD/schemas:/schemas:ro" registry.example.net/shipshape:0.1.0 check /schemas

# For a release, name both base images by digest: a tag can be moved. `docker buildx imagetools inspect` shows the
# digest.
#
#   docker build --build-arg SWIFT_IMAGE=swift@sha256:... --build-arg DEBIAN_IMAGE=debian@sha256:... .
ARG SWIFT_IMAGE=swift:6.3-bookworm
ARG DEBIAN_IMAGE=debian:12-slim

FROM $SWIFT_IMAGE AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
        binutils dpkg-dev git libbson-dev libmongoc-dev libpcre2-dev libssl-dev pkg-config python3 zlib1g-dev
COPY . /src
RUN cd /src && scripts/package --out /package

FROM $DEBIAN_IMAGE
COPY --from=build /package/*.deb /tmp/shipshape.deb
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl /tmp/shipshape.deb \
    && rm -rf /tmp/shipshape.deb /var/lib/apt/lists/*
USER 65532:65532
ENTRYPOINT ["shipshape"]
CMD ["--help"]
