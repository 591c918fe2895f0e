/**
 * Every table of the node in one list. Read this file to learn what the node stores.
 *
 * Table numbers are written in undo records and on disk: append, never renumber, never reuse.
 * Addresses have 26 bytes, ids 32 bytes, heights are u32. Tables of kind `state` make up the state
 * hash and are reversed by undo records; `index` tables follow from the state and are reversed the
 * same way; `local` tables follow from the blocks themselves (chain/store/block-index.ts writes and
 * removes them) or belong to this node alone.
 */
import type { Codec } from '../codec/codec.ts';
import { bool, i64, millis, text16, u8, u16, u32 } from '../codec/primitives.ts';
import { list16, option, struct } from '../codec/struct.ts';
import { dataValue } from './data-value.ts';
import {
  descendingU32,
  fixed,
  textTail,
  tuple,
  u8Key,
  u16Key,
  u32Key,
  u64Key,
} from './key-codecs.ts';
import type { KeyCodec, Table } from './table.ts';
import { blob, position, present, raw, sized } from './values.ts';

const address = fixed(26);
const id = fixed(32);

function table<K, V>(
  number: number,
  name: string,
  kind: Table<K, V>['kind'],
  key: KeyCodec<K>,
  value: Codec<V>,
  doc: string,
  cached = 0,
): Table<K, V> {
  return { id: number, name, kind, key, value, doc, cached };
}

const HOT_ROWS = 100_000;
const WARM_ROWS = 10_000;

// ── the chain itself ─────────────────────────────────────────────────────────────────────────

export const meta = table(1, 'meta', 'local', textTail, blob, 'Schema version, genesis id, head.');

export const headers = table(
  2,
  'headers',
  'local',
  u32Key,
  blob,
  'Header of the block at a height, with its totals (block/header-row.ts).',
  WARM_ROWS,
);

export const heights = table(3, 'heights', 'local', fixed(64), u32, 'Block id → height.');

/** As the value of `position`, a place has the same bytes. */
export const positionKey = tuple(u32Key, u16Key);

export const transactions = table(
  4,
  'transactions',
  'local',
  positionKey,
  blob,
  'Full bytes of the transaction at (height, index in block).',
);

/**
 * Sixteen bytes distinguish 2^64 ids; readers compare the whole id with the transaction that they
 * find.
 */
export const transactionIds = table(
  5,
  'transactionIds',
  'local',
  fixed(16),
  position,
  'First 16 bytes of a transaction id → where it stands.',
);

/**
 * One row for all transactions of an address in a block, because addresses repeat and keys are
 * long.
 */
export const transactionsByAddress = table(
  6,
  'transactionsByAddress',
  'local',
  tuple(address, descendingU32),
  list16(u16, 65_535),
  'Indexes of the transactions that concern an address, newest block first.',
);

/** What a transaction does to the contract that it concerns. */
export const CHANGE = 0;
export const CALL = 1;

export const transactionsByContract = table(
  10,
  'transactionsByContract',
  'local',
  tuple(id, u8Key, descendingU32),
  list16(u16, 65_535),
  'Indexes of the transactions that change or call a contract, newest block first.',
);

export const blocksByGenerator = table(
  7,
  'blocksByGenerator',
  'local',
  tuple(address, u32Key),
  present,
  'Heights of the blocks an address made.',
);

export const undo = table(8, 'undo', 'local', u32Key, blob, 'Before-images of a block’s writes.');

export const stateHashes = table(9, 'stateHashes', 'local', u32Key, raw(32), 'State hash chain.');

// ── accounts ─────────────────────────────────────────────────────────────────────────────────

const accountValue = struct({ balance: i64, leasedIn: i64, leasedOut: i64 });

/** Native balances; `balance` includes the amount that is leased out. */
export const accounts = table(
  16,
  'accounts',
  'state',
  address,
  accountValue,
  'Native balance and lease totals of an address.',
  HOT_ROWS,
);

export const accountHistory = table(
  17,
  'accountHistory',
  'index',
  tuple(address, u32Key),
  accountValue,
  'The account as it was from a height on; one row for each block that changed it.',
);

export const assetBalances = table(
  18,
  'assetBalances',
  'state',
  tuple(address, id),
  i64,
  'Asset balance of an address; no row means zero.',
  WARM_ROWS,
);

export const assetHolders = table(
  19,
  'assetHolders',
  'index',
  tuple(id, address),
  i64,
  'The same balances by asset, for its distribution.',
);

export const assets = table(
  20,
  'assets',
  'state',
  id,
  struct({
    issuer: raw(26),
    issuerPublicKey: sized,
    name: text16(),
    description: text16(),
    decimals: u8,
    reissuable: bool,
    quantity: i64,
    script: option(sized),
    /** The amount of the asset that is worth 100,000 native units; absent: not sponsored. */
    sponsorFee: option(i64),
    issueHeight: u32,
    issueTimestamp: millis,
  }),
  'What is known of an asset now.',
  WARM_ROWS,
);

export const aliases = table(
  21,
  'aliases',
  'state',
  textTail,
  raw(26),
  'Alias name → address, for ever.',
  WARM_ROWS,
);

export const aliasesByAddress = table(
  22,
  'aliasesByAddress',
  'index',
  tuple(address, textTail),
  present,
  'Aliases of an address.',
);

export const leases = table(
  23,
  'leases',
  'state',
  id,
  struct({
    sender: raw(26),
    recipient: raw(26),
    amount: i64,
    height: u32,
    active: bool,
  }),
  'Lease by id of its transaction.',
);

export const activeLeases = table(
  24,
  'activeLeases',
  'index',
  tuple(address, descendingU32, id),
  present,
  'Active leases in which an address is lessor or recipient, newest first.',
);

export const data = table(
  25,
  'data',
  'state',
  tuple(address, textTail),
  dataValue,
  'Data entry of an account by key.',
);

export const scripts = table(26, 'scripts', 'state', address, sized, 'Account script.', HOT_ROWS);

export const assetHistory = table(
  27,
  'assetHistory',
  'index',
  tuple(id, address, u32Key),
  i64,
  'Asset balance of an address from a height on; one row for each block that changed it.',
);

// ── roles and participants ───────────────────────────────────────────────────────────────────

const roleOp = { add: bool, due: option(millis) };

/** The latest operation of each role that an address ever had; small, and read for every sender. */
export const roles = table(
  32,
  'roles',
  'state',
  address,
  list16(struct({ role: u8, timestamp: millis, ...roleOp }), 256),
  'Latest operation of each role of an address.',
  HOT_ROWS,
);

export const roleHistory = table(
  33,
  'roleHistory',
  'state',
  tuple(address, u8Key, u64Key),
  struct(roleOp),
  'Every operation on (address, role) by its timestamp.',
);

export const roleHolders = table(
  34,
  'roleHolders',
  'index',
  tuple(u8Key, address),
  present,
  'Addresses for which a role was ever set: where to look for holders.',
);

export const participants = table(
  35,
  'participants',
  'state',
  address,
  struct({ publicKey: sized, nodeName: text16(), height: u32, order: u32 }),
  'Nodes that may join the network.',
  WARM_ROWS,
);

export const bans = table(
  36,
  'bans',
  'state',
  address,
  blob,
  'Warnings and bans of a miner (consensus/ban-history.ts).',
  WARM_ROWS,
);

/** Written in networks with feature 1002 (ledger/role-holders.ts, ledger/participants.ts). */
export const vitalHolders = table(
  37,
  'vitalHolders',
  'state',
  tuple(u8Key, address),
  present,
  '(role, address) of every account that holds a vital role now or later.',
);

/** Key of the participants in `rollSizes`; no role has this number. */
export const PARTICIPANTS = 0;

export const rollSizes = table(
  38,
  'rollSizes',
  'state',
  u8Key,
  u32,
  'Key 0: number of participants; others: rows of the role with that number in vitalHolders.',
  WARM_ROWS,
);

export const nextOrder = table(
  39,
  'nextOrder',
  'state',
  u8Key,
  u32,
  'Key 0: the order number of the next participant.',
  WARM_ROWS,
);

// ── features ─────────────────────────────────────────────────────────────────────────────────

export const features = table(
  40,
  'features',
  'state',
  u16Key,
  struct({ approvedAt: u32 }),
  'Features approved by vote and the height at which they were.',
  WARM_ROWS,
);

export const featureVotes = table(
  41,
  'featureVotes',
  'state',
  tuple(u32Key, u16Key),
  u32,
  '(first height of a voting window, feature) → votes in that window.',
);

export const feeCarry = table(
  42,
  'feeCarry',
  'state',
  u8Key,
  i64,
  'Key 0: fees of the last block that belong to the generator of the next (feature 2).',
);

// ── finality (chain/finality/finality-state.ts) ───────────────────────────────────────────────────────

export const voterSets = table(
  43,
  'voterSets',
  'state',
  u32Key,
  blob,
  'Voter sets that the block at a height leaves, where its parent left others; empty: nobody votes.',
  WARM_ROWS,
);

export const carriedTargets = table(
  44,
  'carriedTargets',
  'state',
  u32Key,
  struct({ height: u32, hash: raw(32) }),
  'The block at a height carries the justification of this one.',
  WARM_ROWS,
);

export const voterOverrides = table(
  45,
  'voterOverrides',
  'state',
  u32Key,
  raw(32),
  'Operators have named the voters that the block at a height leaves: hash of what they named.',
  WARM_ROWS,
);

// ── later issues keep their rows here ────────────────────────────────────────────────────────

export const orderFills = table(
  48,
  'orderFills',
  'state',
  id,
  struct({ amount: i64, fee: i64 }),
  'How far an exchange order is filled.',
);

export const contracts = table(
  49,
  'contracts',
  'state',
  id,
  struct({
    creator: sized,
    image: text16(),
    imageHash: text16(),
    version: u32,
    active: bool,
  }),
  'Container contract by id of the transaction that created it.',
);

export const contractData = table(
  50,
  'contractData',
  'state',
  tuple(id, textTail),
  dataValue,
  'State of a contract by key.',
);

export const executed = table(
  51,
  'executed',
  'state',
  id,
  raw(32),
  'Executed transaction (103, 104, 107) → the 105 that carries its results.',
);

export const policies = table(
  52,
  'policies',
  'state',
  id,
  struct({ name: text16(), description: text16(), joined: u32 }),
  'Access group.',
);

/** Member kinds of `policyMembers`. */
export const OWNER = 0;
export const RECIPIENT = 1;

export const policyMembers = table(
  53,
  'policyMembers',
  'state',
  tuple(id, u8Key, address),
  u32,
  '(policy, owner or recipient, address) → position in the order of joining.',
);

export const policyHashes = table(
  54,
  'policyHashes',
  'state',
  tuple(id, id),
  struct({ transaction: raw(32), sender: raw(26) }),
  'Data hashes bound to a policy.',
);

export const policyHashOrder = table(
  55,
  'policyHashOrder',
  'index',
  tuple(id, u32Key),
  raw(32),
  'Hashes of a policy in the order of their coming, from 0.',
);

// ── what this node alone has to do ───────────────────────────────────────────────────────────

/** The key of rows about private data: policy, hash. */
const privateItem = tuple(id, id);

export const privatePending = table(
  64,
  'privatePending',
  'local',
  privateItem,
  present,
  'Private data that this node is to fetch (privacy/fetching/fetch-queue.ts).',
);

export const privateLost = table(
  65,
  'privateLost',
  'local',
  privateItem,
  present,
  'Private data that no member had for a long time, tried again now and then.',
);

export const contractStatuses = table(
  66,
  'contractStatuses',
  'local',
  tuple(id, fixed(16)),
  struct({ takenAt: millis, contractId: option(raw(32)), record: sized }),
  '(contract transaction, hash) → what a miner says of its outcome (contracts/statuses).',
);

export const privateStored = table(
  67,
  'privateStored',
  'local',
  privateItem,
  struct({ bytes: u32, creator: raw(26), sender: raw(26) }),
  'Private data that count for quotas: of whose policy, bound by whom (privacy/storage/stored-bytes.ts).',
);

export const privateArrivals = table(
  68,
  'privateArrivals',
  'local',
  u64Key,
  raw(64),
  'Number → policy and hash of private data, in the order of their coming (privacy/storage/arrivals.ts).',
);

/** Every table; the store opens one sub-database for each. */
export const tables: readonly Table<never, never>[] = [
  meta,
  headers,
  heights,
  transactions,
  transactionIds,
  transactionsByAddress,
  transactionsByContract,
  blocksByGenerator,
  undo,
  stateHashes,
  accounts,
  accountHistory,
  assetBalances,
  assetHolders,
  assets,
  aliases,
  aliasesByAddress,
  leases,
  activeLeases,
  data,
  scripts,
  assetHistory,
  roles,
  roleHistory,
  roleHolders,
  participants,
  bans,
  vitalHolders,
  rollSizes,
  nextOrder,
  features,
  featureVotes,
  feeCarry,
  voterSets,
  carriedTargets,
  voterOverrides,
  orderFills,
  contracts,
  contractData,
  executed,
  policies,
  policyMembers,
  policyHashes,
  policyHashOrder,
  privatePending,
  privateLost,
  contractStatuses,
  privateStored,
  privateArrivals,
] as unknown as readonly Table<never, never>[];
