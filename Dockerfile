# Image of platform-node, from the Debian package: docs/guide/operations.md says how to run it.
#
#   npm run release && docker build -t platform-node .

# Debian 12 or later, or what grew out of it.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS package
COPY release/*.deb /tmp/
RUN dpkg-deb --extract /tmp/*.deb /package \
 && rm -r /package/etc/platform-node/* /package/usr/share /package/usr/lib/systemd

FROM ${BASE}
LABEL org.opencontainers.image.title="platform-node" \
      org.opencontainers.image.description="A node of a permissioned blockchain network" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN groupadd --gid 10001 platform-node \
 && useradd --uid 10001 --gid 10001 --home-dir /var/lib/platform-node --create-home \
      --shell /usr/sbin/nologin platform-node
COPY --from=package /package /
# Health checks of compose files call `node`. Without heaps of glibc for each thread: see "i: memory" in
# docs/performance.md.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 NODE_OPTIONS=--v8-pool-size=0 \
    PATH=/usr/lib/platform-node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
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
