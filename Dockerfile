# docker build -t sluice .                     the server
# docker build -t sluice:devnet --target devnet .   with the local chain, to try it
#
# The base is Debian with Node 24 and npm. Pin it by digest where builds have to be repeatable:
# --build-arg NODE_IMAGE=docker.io/library/node:24-bookworm-slim@sha256:...
# For several platforms: docker buildx build --platform linux/amd64,linux/arm64 . Nothing is run on the platform that the image is for.
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

# The packages, which are the same for every platform.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS package
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# As package-lock.json says, on every platform.
# A registry of your own: --secret id=npmrc,src=.npmrc-of-yours
RUN --mount=type=secret,id=npmrc npm ci --userconfig=/run/secrets/npmrc --include=dev --include=optional
COPY . .
RUN npm run pack

# What the image adds to its base, with the binaries of its platform.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS install
ARG TARGETARCH
COPY --from=package /build/dist/packages /packages
COPY tools/image/prune.mjs /
WORKDIR /image/app
RUN --mount=type=secret,id=npmrc npm install --userconfig=/run/secrets/npmrc --no-save --omit=dev --ignore-scripts \
  --os=linux --cpu=$(echo $TARGETARCH | sed s/amd64/x64/) /packages/sluice-[0-9]*.tgz && node /prune.mjs node_modules
COPY tools/image/init.sh /image/usr/local/bin/init
# A user without a password, a shell or a file of its own but the folders that are volumes. Copies of plugins can be read by who knows their
# names: each plugin in the plugin-host service is a user of its own. That service's socket lies in a folder of its own user.
RUN cp -r node_modules/sluice/dist/conf conf && ln -s /app/node_modules/sluice/bin/sluice /image/usr/local/bin/sluice \
  && mkdir -p /image/etc /image/run/plugin-host /own/certs /own/data && mkdir -m 711 /own/data/plugins && chmod 700 /own/certs /own/data && cp /etc/passwd /etc/group /image/etc/ \
  && mkdir -p -m 750 /own-signer/run && mkdir -m 700 /own-signer/data \
  && echo 'sluice:x:10001:10001:sluice:/app:/usr/sbin/nologin' >> /image/etc/passwd && echo 'sluice:x:10001:' >> /image/etc/group \
  && echo 'sluice-signer:x:10002:10001:sluice-signer:/signer:/usr/sbin/nologin' >> /image/etc/passwd

FROM install AS install-devnet
ARG TARGETARCH
WORKDIR /devnet
# Without what it only works together with: Sluice itself is installed.
RUN --mount=type=secret,id=npmrc npm install --userconfig=/run/secrets/npmrc --no-save --omit=dev --ignore-scripts --legacy-peer-deps \
  --os=linux --cpu=$(echo $TARGETARCH | sed s/amd64/x64/) /packages/sluice-devnet-*.tgz && node /prune.mjs node_modules

FROM ${NODE_IMAGE} AS runtime
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="One HTTP interface over mutual TLS from trading bots to decentralized exchanges" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
COPY --from=install /image/ /
COPY --from=install --chown=10001:10001 /own/ /app/
# Of the signer service, whose user is another one: its data, and its socket, which the servers' group reaches.
COPY --from=install --chown=10002:10001 /own-signer/ /signer/
ENV NODE_ENV=production \
    SLUICE_SERVER_HOST=0.0.0.0 \
    SLUICE_DEVNET_ENABLED=false
USER 10001:10001
VOLUME ["/app/certs", "/app/data"]
EXPOSE 15888
STOPSIGNAL SIGTERM
# Alive, not ready: a container must not be ended because a chain's node is away. `sluice health --ready` asks for that too.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["sluice", "health"]
ENTRYPOINT ["init", "sluice"]
CMD ["start"]

FROM runtime AS devnet
COPY --from=install-devnet /devnet/node_modules/ /app/node_modules/
ENV SLUICE_DEVNET_ENABLED=true

# Last, so that it is what a plain build makes.
FROM runtime AS production
