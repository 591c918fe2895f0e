/**
 * The configuration of a network of several organisations. The generator writes it as two files: what is
 * equal on all nodes, and what each node has of its own. The examples configs/network/poa.conf and pos.conf
 * are the same texts in one file, with placeholders; `npm run reference` writes them.
 */
import { newNetworkFeaturesText } from '../../../tx/rules/features.ts';

/** A member as the genesis block has it. */
export interface GenesisMember {
  readonly address: string;
  readonly publicKey: string;
  readonly roles: readonly string[];
}

export interface Shared {
  readonly platformCrypto: boolean;
  readonly consensus: 'poa' | 'pos';
  /** The time between blocks; undefined: the default of the consensus. */
  readonly roundMs?: number | undefined;
  readonly finality: boolean;
  readonly chainId: string;
  readonly members: readonly GenesisMember[];
}

/** What a node has of its own. */
export interface Own {
  readonly name: string;
  /** `host:port` where the others reach it. */
  readonly declared: string;
  readonly peerPort: number;
  readonly restPort: number;
  readonly knownPeers: readonly string[];
  readonly tls: boolean;
  /** The chain goes on without votes: fewer than four members found it with finality. */
  readonly goesOn: boolean;
}

/** What `network join` fills in, on the machine of the node. */
export const MISSING = {
  address: '<address of this node>',
  apiKeyHash: '<hash of the API key of this node>',
  folder: '<folder of this node>',
} as const;

/** What `network merge` fills in. */
export const addressOf = (name: string): string => `<address of ${name}>`;
export const publicKeyOf = (name: string): string => `<public key of ${name}>`;

/** The first two, so that none is irreplaceable. */
const MANAGERS = 2;
export const rolesOf = (index: number): string[] => [
  ...(index < MANAGERS ? ['permissioner', 'connection_manager'] : []),
  'miner',
];

const WHOLE_TOKENS = 2_500_000;
const ROUND_MS = { poa: 20_000, pos: 40_000 } as const;
/** Of a round, for the block to reach everybody. */
const SYNC_SHARE = 0.15;

export const GENESIS_FILE = 'genesis.conf';

/** The part that is equal on all nodes, as a file. */
export const genesisText = (
  shared: Shared,
): string => `# A network of ${counted(shared.members)} that make blocks by ${KIND[shared.consensus]}.
# This file is the same on all nodes, and \`platform-node network checksum\` shows that it is. What is in
# <angle brackets> \`platform-node network merge\` fills in, from the requests of the members; it signs the
# first block. Amounts and roles can be changed before that.

node {
${sharedLines(shared)}}
`;

/** The part that each node has of its own, as a file that includes the other. */
export const nodeText = (
  own: Own,
): string => `# The node of ${own.name}. \`platform-node network join\` fills in what is in <angle brackets>, on its machine.
# The reference has every setting: man platform-node.conf.

include "${GENESIS_FILE}"

node {
  owner-address = "${MISSING.address}"
  network.node-name = "${own.name}"
  # Where the others reach it.
  network.declared-address = "${own.declared}"
  # Of the API key in the file api-key; platform-node api-key generate makes another.
  rest-api.api-key-hash = "${MISSING.apiKeyHash}"

  directory = "${MISSING.folder}"
  wallet.file = "${MISSING.folder}/${KEYSTORE}"
  # Readable by the node alone; or the variable NODE_WALLET_PASSWORD.
  wallet.password-file = "${MISSING.folder}/${WALLET_PASSWORD}"
${own.goesOn ? GOES_ON : ''}
${localLines(own, 'Other nodes, which tell it of more. Its own address does not matter here.')}}
`;

/** With so many miners a quorum can spare one. */
export const WAITING_MINERS_MIN = 4;
const GOES_ON = `
  # Of fewer than four miners all have to vote. While one is away the chain goes on without votes: then no block is
  # final, and parts of a network that has split may lose blocks. Take this line out once there are four.
  miner.wait-for-votes = no
`;

export const KEYSTORE = 'keystore.dat';
export const WALLET_PASSWORD = 'wallet-password';

const KIND = {
  poa: 'proof of authority: they take turns',
  pos: 'leased proof of stake: who has more tokens has more turns',
} as const;
const EXAMPLE_MEMBERS = ['alpha', 'beta', 'gamma', 'delta'];

const counted = ({ length }: readonly unknown[]): string =>
  length === 1 ? 'one organisation' : `${length} organisations`;

/** The example in one file. */
export function exampleText(consensus: 'poa' | 'pos'): string {
  const members = EXAMPLE_MEMBERS.map((name, index) => ({
    address: addressOf(name),
    publicKey: publicKeyOf(name),
    roles: rolesOf(index),
  }));
  const own: Own = {
    name: '<name of this node>',
    declared: '<host of this node>:6864',
    peerPort: 6864,
    restPort: 6862,
    knownPeers: EXAMPLE_MEMBERS.map((name) => `<host of ${name}>:6864`),
    tls: false,
    goesOn: false,
  };
  const isPoa = consensus === 'poa';
  const shared = { platformCrypto: true, consensus, finality: isPoa, chainId: 'T', members };
  return `# A network of four organisations, alpha to delta, that make blocks by ${KIND[consensus]}.
# docs/guide/joining.md tells how to found it and how others join; configs/example.conf has every setting.
# \`platform-node network init\` writes the same, filled in: docs/guide/network.md.
#
# Everything in <angle brackets> is a placeholder: the file is refused until all are filled in. Accounts
# come from \`platform-node keystore generate\`, the genesis block from \`platform-node genesis sign\`.

node {
  # ---- Each member sets these for its own node, here or by the variables NODE_OWNER_ADDRESS,
  # ---- NODE_NETWORK_NODE_NAME, NODE_NETWORK_DECLARED_ADDRESS and NODE_REST_API_API_KEY_HASH.

  owner-address = "${MISSING.address}"
  network.node-name = "${own.name}"
  # Where the others reach it.
  network.declared-address = "${own.declared}"
  # platform-node api-key hash -
  rest-api.api-key-hash = "${MISSING.apiKeyHash}"

  directory = /var/lib/platform-node
  wallet.file = /var/lib/platform-node/${KEYSTORE}
  # Readable by the node alone; or the variable NODE_WALLET_PASSWORD.
  wallet.password-file = /etc/platform-node/${WALLET_PASSWORD}

  # ---- The rest is the same on all nodes. What is under blockchain, miner.max-block-size-in-bytes and
  # ---- utx.tx-expire-timeout must be: nodes that differ there refuse each other.

${sharedLines(shared)}
  # Blocks are made while a majority of the miners is connected, so no half of a divided network goes on
  # alone. \`miner.quorum\` sets another number of other miners.

${localLines(own, 'A node skips itself, so the list is the same for all.')}}
`;
}

function sharedLines({ platformCrypto, consensus, roundMs, finality, chainId, members }: Shared) {
  const round = roundMs ?? ROUND_MS[consensus];
  const transactions = members
    .map(
      ({ address }) => `          { recipient = "${address}", amount = "${WHOLE_TOKENS} WEST" }\n`,
    )
    .join('');
  const participants = members
    .map(
      ({ publicKey, roles }) =>
        `          { public-key = "${publicKey}", roles = [${roles.join(', ')}] }\n`,
    )
    .join('');
  return `  # no: national-standard cryptography. It is chosen before the first account is made, for ever:
  # docs/guide/cryptography.md. The keystore is a folder then.
  platform-crypto = ${platformCrypto ? 'yes' : 'no'}

  blockchain {
${consensus === 'poa' ? poaLines(round) : POS_LINES}    custom {
      # Part of every address, so accounts are made for one network.
      address-scheme-character = ${JSON.stringify(chainId)}
      # What a network is founded with: the defaults; 1000, which bounds the work of scripts; 1001, by which
      # any account may create a policy; 1002, with which bans and roles cannot end the chain; 1003, by which no
      # miner is marked whose block lost; 1005, with which atomic transactions may run contracts; 1006, by which
      # voters stay registered; 1007, with which a script protects nobody from a ban. A feature of a later
      # release is voted in instead.
${finality ? FINALITY_LINES : ''}      functionality.pre-activated-features = { ${newNetworkFeaturesText(finality)} }
      genesis {
        # The sum of the amounts below; no more tokens will ever exist.
        initial-balance = "${WHOLE_TOKENS * members.length} WEST"

${consensus === 'pos' ? delayLines(round) : ''}        # Written by \`platform-node genesis sign\`.
        block-timestamp = 0
        genesis-public-key-base-58 = ""
        signature = ""

        transactions = [
${transactions}        ]

        # Who may connect, in the order of the balances above. The roles: a permissioner gives and takes
        # roles, a connection manager lets nodes in and out, a miner makes blocks. Two of each of the
        # former, so that none is irreplaceable.
        network-participants = [
${participants}        ]
      }
    }
  }
`;
}

const FINALITY_LINES = `      # 1004: a block for whose child more than two thirds of the miners have voted is never taken back.
`;

function poaLines(roundMs: number): string {
  const syncMs = Math.max(1, Math.round(roundMs * SYNC_SHARE));
  return `    consensus {
      type = poa
      # A round is both together; the second part is left for the block to reach everybody.
      round-duration = ${durationText(roundMs - syncMs)}
      sync-duration = ${durationText(syncMs)}
      # Who misses three turns in a row is passed over for a hundred blocks. At most 40 % of the miners
      # are passed over at the same time.
      warnings-for-ban = 3
      ban-duration-blocks = 100
      max-bans-percentage = 40
    }
`;
}

const POS_LINES = `    # A miner needs 10,000 tokens, its own and leased ones, over its last 1000 blocks.
    consensus.type = pos
`;

const delayLines = (
  ms: number,
): string => `        # Base target and block times settle at this average.
        average-block-delay = ${durationText(ms)}

`;

const durationText = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`);

function localLines(
  { declared, peerPort, restPort, knownPeers, tls }: Own,
  aboutPeers: string,
): string {
  // The default is every address of version 4.
  const bound = declared.startsWith('[') ? '    bind-address = "::"\n' : '';
  return `  network {
${bound}    port = ${peerPort}
    # ${aboutPeers}
    known-peers = [
${knownPeers.map((place) => `      "${place}"\n`).join('')}    ]
  }

  # Rounds and blocks go by the clock: without an answer for so long the node makes no blocks.
  ntp.fatal-timeout = 5m

${tls ? tlsLines(restPort) : plainLines(restPort)}`;
}

const plainLines = (
  restPort: number,
): string => `  # Plain HTTP belongs on the loopback; rest-api.tls.cert and .key make it HTTPS for others.
  rest-api { bind-address = "127.0.0.1", port = ${restPort} }
`;

export const CERTIFICATE = 'rest-cert.pem';
export const CERTIFICATE_KEY = 'rest-key.pem';

const tlsLines = (
  restPort: number,
): string => `  # HTTPS, for other machines too. SIGHUP takes another certificate over.
  rest-api {
    bind-address = "0.0.0.0"
    port = ${restPort}
    tls.cert = "${MISSING.folder}/${CERTIFICATE}"
    tls.key = "${MISSING.folder}/${CERTIFICATE_KEY}"
  }
`;
