# docker build -t sluice .                     the server
# docker build -t sluice:devnet --target devnet .   with the local chain, to try it
#
# The base is Debian with Node 24 and npm. Pin it by digest where builds have to be repeatable:
# --build-arg NODE_IMAGE=docker.io/library/node:24-bookworm-slim@sha256:...
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# Not `npm ci`, which refuses a lockfile that lacks other platforms' optional packages; this, too, takes the lockfile's versions.
# A registry of your own: --secret id=npmrc,src=.npmrc-of-yours
RUN --mount=type=secret,id=npmrc npm install --userconfig=/run/secrets/npmrc --no-save --include=dev --include=optional
COPY . .
RUN node tools/build.mjs --out /out/app --no-devnet && node tools/build.mjs --out /out/devnet \
  && mkdir -p /out/anvil && cp -r node_modules/@foundry-rs /out/anvil/
RUN --mount=type=secret,id=npmrc npm install --userconfig=/run/secrets/npmrc --no-save --omit=dev --include=optional \
  && node tools/prebundle.mjs node_modules && node tools/image/prune.mjs node_modules && mv node_modules /out/app/

FROM ${NODE_IMAGE} AS runtime
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="One HTTP interface over mutual TLS from trading bots to decentralized exchanges" \
      org.opencontainers.image.licenses="Apache-2.0"
# A user without a password, a shell or a file of its own but the two folders that are volumes.
RUN echo 'sluice:x:10001:10001:sluice:/app:/usr/sbin/nologin' >> /etc/passwd && echo 'sluice:x:10001:' >> /etc/group \
  && mkdir -p /app/certs /app/data && chown 10001:10001 /app/certs /app/data && chmod 700 /app/certs /app/data \
  && ln -s /app/bin/sluice /usr/local/bin/sluice
WORKDIR /app
COPY tools/image/init.sh /usr/local/bin/init
COPY --from=build /out/app /app
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
COPY --from=build /out/devnet /app
COPY --from=build /out/anvil /app/node_modules
ENV SLUICE_DEVNET_ENABLED=true

# Last, so that it is what a plain build makes.
FROM runtime AS production
