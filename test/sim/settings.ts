/** The network that is simulated: its keys, its genesis and its rules. */
import { type Block, blockId } from '../../src/block/block.ts';
import { buildGenesis, signGenesis } from '../../src/block/genesis.ts';
import { createPoa } from '../../src/consensus/poa.ts';
import { createChain } from '../../src/crypto/chain.ts';
import { createFamily } from '../../src/crypto/families.ts';
import { roleNumber } from '../../src/ledger/roles.ts';
import type { NetworkSettings } from '../../src/tx/network-settings.ts';
import { allTypes } from '../../src/tx/registry.ts';
import { Dice } from './random.ts';

export const family = createFamily('curve25519');
export const chain = createChain(family, 'S'.charCodeAt(0));
export const GENESIS_TIME = 1_700_000_000_000;
export const ROUND_MS = 4_500;
export const SYNC_MS = 500;
export const LENGTH_MS = ROUND_MS + SYNC_MS;
export const WEST = 100_000_000n;
const FUNDS = 1_000_000n * WEST;
const NODES_MAX = 7;
const USERS = 20;

export interface Account {
  readonly name: string;
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
  readonly address: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

export function account(name: string): Account {
  const keys = family.keyPairFromPhrase(name);
  // Signatures draw random bytes; here the same message always gets the same ones.
  const sign = (message: Uint8Array): Uint8Array => {
    const hash = chain.fastHash(message);
    const seed = hash.reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 7);
    return family.sign(keys.privateKey, message, new Dice(seed));
  };
  return { ...keys, name, address: chain.addressOf(keys.publicKey), sign };
}

const named = (what: string, count: number): Account[] =>
  Array.from({ length: count }, (_, i) => account(`${what} ${i + 1}`));

export const owners = named('node', NODES_MAX);
export const users = named('user', USERS);

const FEATURES = [3, 4, 5, 6, 7, 9, 10, 100, 101];

export const network: NetworkSettings & { featureApprovalVotes: number } = {
  nativeToken: 'WEST',
  fees: {
    enabled: true,
    base: new Map(allTypes.flatMap((def) => (def.fee === undefined ? [] : [[def.type, def.fee]]))),
    additional: new Map(),
    scriptExtra: 400_000n,
  },
  txExpireTimeoutMs: 2 * 3_600_000,
  preActivatedFeatures: new Map(FEATURES.map((id) => [id, 0])),
  featureCheckBlocks: 20,
  featureApprovalVotes: 15,
  senderRoleEnabled: false,
};

export const consensus = createPoa(
  {
    genesisTimestamp: GENESIS_TIME,
    roundDurationMs: ROUND_MS,
    syncDurationMs: SYNC_MS,
    banDurationBlocks: 10,
    warningsForBan: 3,
    maxBansPercentage: 40,
  },
  chain,
);

/** The first `nodes` owners make blocks. */
export function genesisOf(nodes: number): Block {
  const founder = account('founder');
  const miners = owners.slice(0, nodes);
  const settings = {
    timestamp: GENESIS_TIME,
    version: 1 as const,
    consensus: { kind: 'poa' as const },
    transactions: [...miners, ...users].map(({ address }) => ({
      recipient: address,
      amount: FUNDS,
    })),
    networkParticipants: miners.map(({ publicKey }) => ({
      publicKey,
      roles: ['permissioner', 'connection_manager', 'issuer', 'miner'].map(
        (name) => roleNumber(name) ?? 0,
      ),
    })),
  };
  const { signature } = signGenesis(settings, founder, chain).header;
  const genesis = buildGenesis(settings, { publicKey: founder.publicKey, signature }, chain);
  if (blockId(genesis).length !== 64) throw new Error('the genesis block has an id');
  return genesis;
}
