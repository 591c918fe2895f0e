/** The configuration of a node of a private network, as `platform-node dev` writes it. */
import { join } from 'node:path';
import { newNetworkFeaturesText } from '../../../tx/rules/features.ts';

/** An account of the genesis block. */
export interface Holder {
  readonly address: string;
  readonly publicKey: string;
  readonly roles: readonly string[];
  readonly balance: bigint;
}

export interface DevConfig {
  readonly folder: string;
  readonly owner: string;
  readonly platformCrypto: boolean;
  readonly chainId: string;
  readonly accounts: readonly Holder[];
  readonly consensus: 'poa' | 'pos';
  readonly roundMs: number;
  readonly finality: boolean;
  readonly walletPassword: string;
  readonly restHost: string;
  readonly restPort: number;
  readonly apiKeyHash: string;
  readonly privacyApiKeyHash: string;
  readonly genesisTimestamp: number;
  readonly initialBaseTarget: bigint;
  readonly genesisKey: string;
  readonly genesisSignature: string;
  /** The ports of all nodes, and the index of this one; absent: it is the only node. */
  readonly peers?: { readonly ports: readonly number[]; readonly index: number };
}

const quoted = (text: string): string => JSON.stringify(text);
const HOST = '127.0.0.1';

export function devConfigText(config: DevConfig): string {
  const { accounts, folder } = config;
  const transactions = accounts
    .map((one) => `{ recipient = ${quoted(one.address)}, amount = "${one.balance}" }`)
    .join('\n          ');
  const participants = accounts
    .map((one) => `{ public-key = ${quoted(one.publicKey)}, roles = [${one.roles.join(', ')}] }`)
    .join('\n          ');
  const isPos = config.consensus === 'pos';
  const timing = isPos
    ? `\n        average-block-delay = "${config.roundMs}ms"` +
      `\n        initial-base-target = ${config.initialBaseTarget}`
    : '';
  return `# A private network for development, made by \`platform-node dev\`.
node {
  platform-crypto = ${config.platformCrypto}
  owner-address = ${quoted(config.owner)}
  directory = ${quoted(folder)}
  data-directory = ${quoted(join(folder, 'data'))}
  wallet { file = ${quoted(join(folder, 'keystore.dat'))}, password = ${quoted(config.walletPassword)} }
  blockchain {
    consensus ${isPos ? '{ type = pos }' : poaSection(config.roundMs)}
    custom {
      address-scheme-character = ${quoted(config.chainId)}
      functionality.pre-activated-features = { ${newNetworkFeaturesText(config.finality)} }
      genesis {
        initial-balance = "${accounts.reduce((sum, one) => sum + one.balance, 0n)}"${timing}
        block-timestamp = ${config.genesisTimestamp}
        genesis-public-key-base-58 = ${quoted(config.genesisKey)}
        signature = ${quoted(config.genesisSignature)}
        transactions = [
          ${transactions}
        ]
        network-participants = [
          ${participants}
        ]
      }
    }
  }
  ${peersSection(config.peers)}
  # Confidential data are files beside the chain.
  privacy.storage.vendor = file
  # All nodes share one clock, that of this machine.
  ntp { servers = [], fatal-timeout = 5m }
  rest-api {
    bind-address = ${quoted(config.restHost)}
    port = ${config.restPort}
    api-key-hash = ${quoted(config.apiKeyHash)}
    privacy-api-key-hash = ${quoted(config.privacyApiKeyHash)}
  }
}
`;
}

function poaSection(roundMs: number): string {
  // A tenth of the round is left for blocks to spread, as consensus.md#rounds recommends.
  const syncMs = Math.max(1, Math.floor(roundMs / 10));
  return `{
      type = poa
      round-duration = "${roundMs - syncMs}ms"
      sync-duration = "${syncMs}ms"
    }`;
}

function peersSection(peers: DevConfig['peers']): string {
  if (peers === undefined) {
    return `# No other node joins it, so it waits for none.
  network { listen = no, bind-address = "${HOST}", known-peers = [] }`;
  }
  const places = peers.ports.map((port) => `"${HOST}:${port}"`);
  const others = places.filter((_, i) => i !== peers.index);
  return `# They start at the same time, so a node that does not answer yet is soon asked again.
  network {
    bind-address = "${HOST}"
    port = ${peers.ports[peers.index]}
    declared-address = ${places[peers.index]}
    node-name = "node ${peers.index + 1}"
    known-peers = [${others.join(', ')}]
    attempt-connection-delay = 500ms
    suspension-residence-time = 2s
  }`;
}
