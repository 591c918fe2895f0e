/**
 * The tables of the data service (data-service.md#tables). Every row of the chain has `seq`, the
 * position of its transaction in the chain, counted from 1: it is the order of all lists, their
 * cursor, and the number of transactions.
 *
 * There are no foreign keys: a rollback removes rows by `seq`, without looking at other tables.
 */
export const TABLES = `
CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE blocks (
  height integer PRIMARY KEY, signature text COLLATE "C" NOT NULL, reference text COLLATE "C" NOT NULL,
  version smallint NOT NULL, ts bigint NOT NULL, generator text COLLATE "C" NOT NULL,
  base_target bigint, generation_signature text, consensus jsonb, features smallint[] NOT NULL,
  blocksize integer NOT NULL, fee bigint NOT NULL, tx_count integer NOT NULL, first_seq bigint NOT NULL);
CREATE TABLE txs (
  seq bigint PRIMARY KEY, id text COLLATE "C" NOT NULL, type smallint NOT NULL, version smallint NOT NULL,
  height integer NOT NULL, ts bigint NOT NULL, sender text COLLATE "C", sender_public_key text COLLATE "C",
  signature text COLLATE "C", fee bigint NOT NULL, fee_asset_id text COLLATE "C",
  asset_id text COLLATE "C", amount bigint, message text, body jsonb NOT NULL);
CREATE TABLE tx_addresses (
  address text COLLATE "C" NOT NULL, seq bigint NOT NULL, role smallint NOT NULL);
CREATE TABLE tx_aliases (alias text COLLATE "C" NOT NULL, seq bigint NOT NULL);
CREATE TABLE tx_amounts (seq bigint NOT NULL, pos integer NOT NULL, amount bigint NOT NULL);
CREATE TABLE tx_proofs (proof text COLLATE "C" NOT NULL, seq bigint NOT NULL);
CREATE TABLE data_entries (
  seq bigint NOT NULL, position_in_tx integer NOT NULL, author text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL, type text NOT NULL, value text NOT NULL);
CREATE TABLE assets (
  asset_id text COLLATE "C" PRIMARY KEY, seq bigint NOT NULL, issuer text COLLATE "C" NOT NULL,
  name text NOT NULL, description text NOT NULL, quantity numeric NOT NULL,
  issued_quantity bigint NOT NULL, decimals smallint NOT NULL, reissuable boolean NOT NULL,
  issued_reissuable boolean NOT NULL);
CREATE TABLE aliases (
  alias text COLLATE "C" PRIMARY KEY, address text COLLATE "C" NOT NULL, seq bigint NOT NULL);
CREATE TABLE users (
  address text COLLATE "C" PRIMARY KEY, ordinal bigint NOT NULL, first_height integer NOT NULL,
  registered_ts bigint NOT NULL);
CREATE TABLE permission_ops (
  seq bigint NOT NULL, address text COLLATE "C" NOT NULL, role text NOT NULL, op text NOT NULL,
  due_ts bigint, ts bigint NOT NULL);
CREATE TABLE balances (
  address text COLLATE "C" NOT NULL, asset_id text COLLATE "C" NOT NULL, amount bigint NOT NULL,
  height integer NOT NULL, PRIMARY KEY (address, asset_id));
CREATE TABLE balance_dirty (address text COLLATE "C" PRIMARY KEY, since_height integer NOT NULL);
CREATE TABLE type_counts (type smallint PRIMARY KEY, n bigint NOT NULL);
CREATE TABLE reorgs (
  at bigint PRIMARY KEY, from_height integer NOT NULL, to_height integer NOT NULL,
  old_signature text NOT NULL, new_signature text);
CREATE UNIQUE INDEX txs_id ON txs (id);
`;

/** The type of the result of a contract. It carries the transaction (103, 104, 107) that asked for it. */
export const EXECUTED = 105;

/** The contract of a row of `txs`: created, called or changed by it, or by what it carries. */
export const contractOf = (t = ''): string => {
  const carried = `${t}body->'tx'`;
  return `coalesce(${t}body->>'contractId', ${carried}->>'contractId',
    CASE WHEN ${carried}->>'type' = '103' THEN ${carried}->>'id' END)`;
};
/** Rows that may have one: the index has no other ones. */
export const mayHaveContract = (t = ''): string =>
  `(${t}type = ${EXECUTED} OR ${t}body ? 'contractId')`;

/** The id of the transaction that a row of `txs` carries. */
export const carriedId = (t = ''): string => `((${t}body->'tx'->>'id') COLLATE "C")`;
/** The same: the index has no other rows. */
export const mayCarry = (t = ''): string => `${t}type = ${EXECUTED}`;

/** Tables that earlier releases did not have. */
export const LATER_TABLES = `
CREATE TABLE IF NOT EXISTS miner_marks (
  height integer NOT NULL, address text COLLATE "C" NOT NULL, missed integer NOT NULL,
  mark smallint NOT NULL, until integer, PRIMARY KEY (height, address));
CREATE TABLE IF NOT EXISTS block_spans (
  height integer NOT NULL, ts_from bigint NOT NULL, ts_to bigint NOT NULL);
`;

/** A block has a row in `block_spans` where a transaction's time differs more from its own. */
export const TIME_TOLERANCE_MS = 2 * 3_600_000;
/** The times of a row there. */
export const SPAN = `int8range(ts_from, ts_to, '[]')`;

/** Key in `meta` of the height up to which stored blocks are final; absent where nobody votes on blocks. */
export const FINAL_HEIGHT = 'final_height';
/** Read once for a statement. */
export const FINAL_HEIGHT_SQL = `(SELECT value::int FROM meta WHERE key = '${FINAL_HEIGHT}')`;

/** All rounds skipped up to a block, under proof of authority. */
export const SKIPPED_ROUNDS = `(consensus->'poa-consensus'->>'overall-skipped-rounds')::bigint`;

/** Addresses of the miners whose turns a block carries, since their blocks lost. */
export const KEPT_MINERS = `ARRAY(SELECT turn->>'generator' FROM jsonb_array_elements(
  coalesce(consensus->'poa-consensus'->'lost-turns', '[]'::jsonb)) AS turns(turn))`;

/** Two to this power rows of `seq` are a bucket. */
export const BUCKET_BITS = 13;
/** The same of a large bucket. */
export const LARGE_BUCKET_BITS = 20;

/**
 * The bucket and the large bucket of a row. An index for parts of texts has them as a second column:
 * it finds the rows of one bucket alone, so a search goes from bucket to bucket and stops at a full
 * page. Without them it would collect every row that has the text.
 */
export const bucketsOf = (seq: string): string =>
  `(ARRAY[(${seq} >> ${BUCKET_BITS})::int4, (-1 - (${seq} >> ${LARGE_BUCKET_BITS}))::int4])`;

/** Name → definition. A first load creates them once all rows are there, which is faster. */
export const INDEXES: Readonly<Record<string, string>> = {
  blocks_signature: 'UNIQUE INDEX blocks_signature ON blocks (signature)',
  blocks_ts: 'INDEX blocks_ts ON blocks (ts, height)',
  blocks_generator: 'INDEX blocks_generator ON blocks (generator, height)',
  blocks_first_seq: 'INDEX blocks_first_seq ON blocks (first_seq)',
  block_spans_height: 'INDEX block_spans_height ON block_spans (height)',
  block_spans_times: `INDEX block_spans_times ON block_spans USING gist (${SPAN})`,
  txs_type: 'INDEX txs_type ON txs (type, seq)',
  txs_signature: 'INDEX txs_signature ON txs (signature) WHERE signature IS NOT NULL',
  txs_asset: 'INDEX txs_asset ON txs (asset_id, seq) WHERE asset_id IS NOT NULL',
  txs_asset_type: 'INDEX txs_asset_type ON txs (asset_id, type, seq) WHERE asset_id IS NOT NULL',
  txs_amount: 'INDEX txs_amount ON txs (amount, seq) WHERE amount IS NOT NULL',
  txs_asset_amount:
    'INDEX txs_asset_amount ON txs (asset_id, type, amount, seq) WHERE amount IS NOT NULL',
  txs_of_contract: `INDEX txs_of_contract ON txs ((${contractOf()}), seq) WHERE ${mayHaveContract()}`,
  txs_carried: `INDEX txs_carried ON txs (${carriedId()}) WHERE ${mayCarry()}`,
  tx_addresses_role: 'UNIQUE INDEX tx_addresses_role ON tx_addresses (address, role, seq)',
  tx_addresses_seq: 'INDEX tx_addresses_seq ON tx_addresses USING brin (seq)',
  tx_aliases_key: 'UNIQUE INDEX tx_aliases_key ON tx_aliases (alias, seq)',
  tx_aliases_by_seq: 'INDEX tx_aliases_by_seq ON tx_aliases (seq, alias)',
  tx_amounts_key: 'UNIQUE INDEX tx_amounts_key ON tx_amounts (seq, pos)',
  tx_amounts_amount: 'INDEX tx_amounts_amount ON tx_amounts (amount, seq)',
  tx_proofs_key: 'UNIQUE INDEX tx_proofs_key ON tx_proofs (proof, seq)',
  tx_proofs_seq: 'INDEX tx_proofs_seq ON tx_proofs USING brin (seq)',
  data_entries_pk: 'UNIQUE INDEX data_entries_pk ON data_entries (seq, position_in_tx)',
  data_entries_key: 'INDEX data_entries_key ON data_entries (left(key, 128), seq)',
  data_entries_key_value:
    'INDEX data_entries_key_value ON data_entries (left(key, 128), left(value, 64), seq)',
  data_entries_value: 'INDEX data_entries_value ON data_entries (left(value, 64), seq)',
  assets_seq: 'INDEX assets_seq ON assets (seq)',
  aliases_address: 'INDEX aliases_address ON aliases (address)',
  aliases_seq: 'INDEX aliases_seq ON aliases (seq)',
  users_ordinal: 'UNIQUE INDEX users_ordinal ON users (ordinal)',
  users_first_height: 'INDEX users_first_height ON users (first_height)',
  users_registered: 'INDEX users_registered ON users (registered_ts)',
  permission_ops_key: 'UNIQUE INDEX permission_ops_key ON permission_ops (address, role, seq)',
  permission_ops_role: 'INDEX permission_ops_role ON permission_ops (role, seq)',
  permission_ops_time: 'INDEX permission_ops_time ON permission_ops (role, address, ts DESC)',
  permission_ops_seq: 'INDEX permission_ops_seq ON permission_ops (seq)',
  miner_marks_until: 'INDEX miner_marks_until ON miner_marks (until) WHERE until IS NOT NULL',
  balances_asset: 'INDEX balances_asset ON balances (asset_id, amount, address)',
};

/** For searching parts of texts; left out with `index-text = off`. */
export const TEXT_INDEXES: Readonly<Record<string, string>> = {
  txs_message_parts: `INDEX txs_message_parts ON txs
    USING gin (message gin_trgm_ops, ${bucketsOf('seq')}) WHERE message IS NOT NULL`,
  data_entries_key_parts: `INDEX data_entries_key_parts ON data_entries
    USING gin (left(key, 128) gin_trgm_ops, ${bucketsOf('seq')})`,
  data_entries_value_parts: `INDEX data_entries_value_parts ON data_entries
    USING gin (left(value, 256) gin_trgm_ops, ${bucketsOf('seq')})`,
  assets_parts: `INDEX assets_parts ON assets
    USING gin ((name || ' ' || description) gin_trgm_ops, ${bucketsOf('seq')})`,
  aliases_trgm: 'INDEX aliases_trgm ON aliases USING gin (alias gin_trgm_ops)',
};

/** Indexes of earlier schemas that others replace since. */
export const REPLACED_INDEXES: readonly string[] = [
  'tx_addresses_key',
  'tx_aliases_seq',
  'txs_message',
  'data_entries_key_trgm',
  'data_entries_value_trgm',
  'assets_text',
  'txs_contract',
];
