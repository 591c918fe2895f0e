# Image of platform-node: docs/guide/operations.md says how to run it.
#
#   docker build -t platform-node .

FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY vendor vendor
# The lock file decides every version; nothing needs an install script here.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run --silent build \
 && chmod 755 dist/bin/platform-node.js \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund
# Two packages carry their addons for all platforms: only that of this image stays.
RUN arch=$(node -p process.arch) abi=$(node -p process.versions.modules) \
 && find node_modules/uws-pack -name '*.node' ! -name "uws_linux_${arch}_${abi}.node" -delete \
 && find node_modules/sodium-native/prebuilds -mindepth 1 -maxdepth 1 ! -name "linux-${arch}" \
      -exec rm -r {} +

FROM node:22-bookworm-slim
LABEL org.opencontainers.image.title="platform-node" \
      org.opencontainers.image.description="A node of a permissioned blockchain network" \
      org.opencontainers.image.licenses="Apache-2.0"
# Fewer heaps of glibc: see "i: memory" in docs/performance.md. As many threads that collect garbage
# as there are other processors.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 NODE_OPTIONS=--v8-pool-size=0
RUN groupadd --gid 10001 platform-node \
 && useradd --uid 10001 --gid 10001 --home-dir /var/lib/platform-node --create-home \
      --shell /usr/sbin/nologin platform-node \
 && mkdir -p /etc/platform-node
COPY --from=build /build/dist /opt/platform-node/dist
COPY --from=build /build/node_modules /opt/platform-node/node_modules
COPY --from=build /build/package.json /build/LICENSE /opt/platform-node/
COPY --from=build /build/configs /opt/platform-node/configs
RUN ln -s /opt/platform-node/dist/bin/platform-node.js /usr/local/bin/platform-node
USER 10001:10001
WORKDIR /var/lib/platform-node
VOLUME /var/lib/platform-node
# Network, REST, metrics.
EXPOSE 6864 6862 9464
STOPSIGNAL SIGTERM
# REST_URL is set where rest-api.port or rest-api.tls differ from the default.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch((process.env.REST_URL ?? 'http://127.0.0.1:6862') + '/health/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["platform-node"]
CMD ["start", "/etc/platform-node/node.conf"]
