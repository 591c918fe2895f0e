/**
 * The files of a member's folder beside its configuration: the unit of systemd, the compose file, and a
 * README of three steps. Unit and compose file are those of configs, with the places of this folder.
 */
import { readFileSync } from 'node:fs';
import {
  CERTIFICATE,
  CERTIFICATE_KEY,
  GENESIS_FILE,
  type Own,
  WALLET_PASSWORD,
} from './network-texts.ts';

/** Where a service and a container expect the folder. */
const HOME = '/var/lib/platform-node';
const UNIT_FILE = 'platform-node.service';
const COMPOSE_FILE = 'compose.yaml';

const configs = new URL('../../../../configs/', import.meta.url);
const shipped = (name: string): string => readFileSync(new URL(name, configs), 'utf8');

/** Name → text. `isFounded`: the member comes to a network that has its first block. */
export const memberFiles = (own: Own, isFounded: boolean): ReadonlyMap<string, string> =>
  new Map([
    [UNIT_FILE, unitText()],
    [COMPOSE_FILE, composeText(own)],
    ['README.md', readmeText(own, isFounded)],
  ]);

/** The shipped unit, which starts the node of this folder. */
function unitText(): string {
  return shipped(`systemd/${UNIT_FILE}`)
    .replace(
      /^# A node as a service.*$/m,
      `# The node in ${HOME} as a service of systemd: README.md says how to install it.`,
    )
    .replace('/etc/platform-node/node.conf', `${HOME}/node.conf`)
    .replace(/^# In node\.conf: .*$/m, '# The folder of the node.');
}

const CONTAINER_REST_PORT = 6862;

/** The service of the shipped compose file, for one node whose folder is beside it. */
function composeText({ name, peerPort, restPort, tls }: Own): string {
  const service = /^x-node: &node\n(?: .*\n)+/m.exec(shipped(`network/${COMPOSE_FILE}`))?.[0] ?? '';
  const node = service.replace(/^ {2}networks: .*\n/m, '');
  const healthy = tls
    ? node.replace(
        "fetch('http://",
        "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; fetch('https://",
      )
    : node;
  return `# The node of ${name} as a container: README.md says how to start it.

${healthy}
services:
  node:
    <<: *node
    command: [start, ${HOME}/node.conf]
    environment:
      # Those of the shell.
      PLATFORM_NODE_OWNER_PASSWORD:
      PLATFORM_NODE_OWNER_PASSWORD_EMPTY:
      # Beyond the container; beyond the machine: see \`ports\`.
      NODE_REST_API_BIND_ADDRESS: 0.0.0.0
      NODE_REST_API_PORT: ${CONTAINER_REST_PORT}
    ports: ["${tls ? '' : '127.0.0.1:'}${restPort}:${CONTAINER_REST_PORT}", "${peerPort}:${peerPort}"]
    volumes: [".:${HOME}"]
`;
}

function readmeText({ name, declared, peerPort, restPort, tls }: Own, isFounded: boolean): string {
  const receiver = isFounded ? 'a connection manager of the network' : 'the founder';
  const compared = isFounded
    ? `\`${GENESIS_FILE}\` is that of the network. Compare the checksum with the one that another member sees, over another way
than the one by which this folder came. Start once the connection manager has registered the key:`
    : `Put the signed \`${GENESIS_FILE}\`, which the founder sends back, in the place of the one here. All members must see the same
checksum, which they compare over another way than the one by which the file came:`;
  const certificate = tls
    ? `\nPut the certificate of the REST interface and its key here, as \`${CERTIFICATE}\` and \`${CERTIFICATE_KEY}\`.\n`
    : '';
  return `# The node of ${name}

Others reach it at ${declared}, so port ${peerPort} has to be open to them. REST answers at port ${restPort}${
    tls ? '' : ' of this machine'
  }.
Put this folder where the node will run, as ${HOME} where systemd or a container runs it.

## 1. Make the keys

\`\`\`sh
platform-node network join .
\`\`\`

It asks for a password for the key of the node. Send \`${name}.request.json\` to ${receiver}, and nothing
else of this folder: the keys stay here. **Keep a copy of the keystore and of \`${WALLET_PASSWORD}\` on another machine**: nothing can replace
them.
${certificate}
## 2. Compare

${compared}

\`\`\`sh
platform-node network checksum .
platform-node config check node.conf
\`\`\`

## 3. Start

\`\`\`sh
platform-node start node.conf
\`\`\`

As a service of systemd, with the user \`platform-node\` and the password as PLATFORM_NODE_OWNER_PASSWORD=… in
\`/etc/platform-node/environment\`, readable by root alone:

    useradd --system --home-dir ${HOME} --shell /usr/sbin/nologin platform-node
    chown -R platform-node: ${HOME}
    install -m 644 ${UNIT_FILE} /etc/systemd/system/
    systemctl enable --now platform-node

As a container, with the password in the variable PLATFORM_NODE_OWNER_PASSWORD, or PLATFORM_NODE_OWNER_PASSWORD_EMPTY=true:

    chown -R 10001 ${HOME}
    docker compose up --detach --wait
`;
}
