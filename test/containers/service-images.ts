/**
 * Stand-ins for the images that the compose files name, made of the programs of this machine: there
 * is no registry to take them from. They take the same variables and listen at the same ports.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findPrograms } from '../../bench/denominators/postgres-server.ts';
import type { Engine } from './engine.ts';
import { buildImage, filesOf, simpleFiles, type TestImage } from './images.ts';
import type { TarFile } from './tar.ts';

type Files = Readonly<Record<string, TarFile>>;

const HAPROXY = '/usr/sbin/haproxy';
const NODE = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));

export const whyNoHaproxy = (): string | undefined =>
  existsSync(HAPROXY) ? undefined : 'there is no haproxy (Debian: apt install haproxy)';

/** Programs under their own paths, with the libraries that they load. */
function programs(paths: readonly string[]): Files {
  const libraries = paths.flatMap(
    (path) => execFileSync('ldd', [path], { encoding: 'utf8' }).match(/\/\S+/g) ?? [],
  );
  return Object.fromEntries(
    [...paths, ...libraries].map((path) => [
      path.slice(1),
      { copyOf: realpathSync(path), mode: 0o755 },
    ]),
  );
}

/**
 * Variables, user, scripts and commands of the official image, as far as compose files use them. A
 * folder that has data is left as it is.
 */
const POSTGRES_START = `#!/bin/sh
set -e
data=/var/lib/postgresql/data
mkdir -p $data /var/run/postgresql
chown -R postgres $data /var/run/postgresql
as() { su -s /bin/sh postgres -c "$1"; }
if [ ! -e $data/PG_VERSION ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  chmod 644 /tmp/password
  as "initdb --no-locale -E UTF8 -U $POSTGRES_USER -A scram-sha-256 --pwfile=/tmp/password $data"
  echo 'host all all all scram-sha-256' >> $data/pg_hba.conf
  echo "CREATE DATABASE $POSTGRES_DB;" | as "postgres --single -D $data postgres"
  for script in /docker-entrypoint-initdb.d/*.sql; do
    [ -e $script ] || continue
    as "postgres --single -j -D $data $POSTGRES_DB" < $script
  done
fi
as "exec $* -D $data -c listen_addresses=* -c unix_socket_directories=/var/run/postgresql"
`;

/** `gosu USER COMMAND`, by busybox. */
const GOSU = `#!/bin/sh
user=$1
shift
exec su -s /bin/sh -c 'exec "$0" "$@"' "$user" -- "$@"
`;

export function postgresImage(engine: Engine): Promise<TestImage> {
  const bin = findPrograms();
  const lib = bin.replace(/bin$/, 'lib');
  const share = execFileSync(`${bin}/pg_config`, ['--sharedir'], { encoding: 'utf8' }).trim();
  const names = ['initdb', 'postgres', 'pg_isready', 'pg_basebackup', 'psql'];
  const files: Files = {
    ...simpleFiles(POSTGRES_START),
    ...Object.fromEntries(
      ['su', 'chown', 'chmod', 'id'].map((name) => [`bin/${name}`, { linkTo: 'busybox' }]),
    ),
    ...filesOf(lib, lib.slice(1)),
    ...filesOf(share, share.slice(1)),
    ...programs(names.map((name) => `${bin}/${name}`)),
    'bin/docker-entrypoint.sh': { linkTo: '../run.sh' },
    'bin/gosu': { bytes: GOSU, mode: 0o755 },
    'etc/passwd': { bytes: 'root:x:0:0::/:/bin/sh\npostgres:x:999:999::/tmp:/bin/sh\n' },
  };
  return buildImage(engine, 'postgres', files, [
    'FROM scratch',
    'COPY root/ /',
    `ENV PATH=${bin}:/bin TZ=GMT`,
    'VOLUME /var/lib/postgresql/data',
    'STOPSIGNAL SIGINT',
    'ENTRYPOINT ["/run.sh"]',
  ]);
}

export const haproxyImage = (engine: Engine): Promise<TestImage> =>
  buildImage(engine, 'haproxy', { ...simpleFiles(''), ...programs([HAPROXY]) }, [
    'FROM scratch',
    'COPY root/ /',
    `ENTRYPOINT ["${HAPROXY}", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]`,
  ]);

/** The checkout is mounted at /opt/platform-node: copying it would take longer than the test. */
export const checkoutImage = (engine: Engine): Promise<TestImage> =>
  buildImage(engine, 'checkout', { ...simpleFiles(''), ...programs([NODE]) }, [
    'FROM scratch',
    'COPY root/ /',
    'ENV HOME=/tmp',
    `ENTRYPOINT ["${NODE}", "--disable-warning=ExperimentalWarning", "/opt/platform-node/bin/platform-node.ts"]`,
  ]);
