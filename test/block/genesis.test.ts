// The first block: order and times of its transactions, signature, refusals.
import { createHash } from 'node:crypto';
import t from 'tap';
import { blockId, decodeBlock, GENESIS_TRANSACTIONS_MAX } from '../../src/block/block.ts';
import {
  buildGenesis,
  GENESIS_TIMESTAMP_MIN,
  type GenesisSettings,
  genesisTransactions,
  signGenesis,
  verifyGenesis,
} from '../../src/block/genesis.ts';
import { filled, scheme } from './sample.ts';

const T = 1_573_472_578_702;
const MINER = 1;
const PERMISSIONER = 4;
const CONNECTION_MANAGER = 8;

const settings: GenesisSettings = {
  timestamp: T,
  version: 1,
  consensus: { kind: 'poa' },
  transactions: [
    { recipient: filled(26, 0xa), amount: 1_000n },
    { recipient: filled(26, 0xb), amount: 2_000n },
    { recipient: filled(26, 0xc), amount: 3_000n },
  ],
  networkParticipants: [
    { publicKey: filled(32, 0xa), roles: [PERMISSIONER, MINER, CONNECTION_MANAGER] },
    { publicKey: filled(32, 0xb), roles: [MINER] },
    { publicKey: filled(32, 0xc), roles: [] },
  ],
};

// A keyed hash stands for a signature: whoever verifies knows the key.
const mac = (publicKey: Uint8Array, message: Uint8Array): Uint8Array =>
  createHash('sha512').update(publicKey).update(message).digest();
const key = {
  publicKey: filled(32, 5),
  sign: (message: Uint8Array) => mac(filled(32, 5), message),
};
const verify = (check: { publicKey: Uint8Array; message: Uint8Array; signature: Uint8Array }) =>
  Buffer.from(mac(check.publicKey, check.message)).equals(check.signature);

const typeOf = (bytes: Uint8Array): number => bytes[0]!;
const timeOf = (bytes: Uint8Array): number => {
  const at = typeOf(bytes) === 1 ? 1 : bytes.length - 8;
  return Number(Buffer.from(bytes).readBigInt64BE(at));
};

t.test('scenario 1: order, times and bytes of the genesis transactions', async (t) => {
  const found = genesisTransactions(settings, scheme);
  t.strictSame(found.map(typeOf), [1, 1, 1, 110, 101, 101, 101, 110, 101, 110]);
  t.strictSame(
    found.map((bytes) => timeOf(bytes) - T),
    [0, 0, 0, 0, -1, -2, -3, 0, -4, 0],
  );
  t.strictSame(
    found.map((bytes) => bytes.length),
    [43, 43, 43, 41, 36, 36, 36, 41, 36, 41],
  );
  const hex = (i: number) => Buffer.from(found[i]!).toString('hex');
  const at = (time: number) => time.toString(16).padStart(16, '0');
  t.equal(hex(0), `01${at(T)}${'0a'.repeat(26)}00000000000003e8`);
  t.equal(hex(3), `6e${'0a'.repeat(32)}${at(T)}`);
  t.equal(hex(4), `65${'0a'.repeat(26)}04${at(T - 1)}`);
});

t.test('fields of the block', async (t) => {
  const block = signGenesis(settings, key, scheme);
  const { header } = block;
  t.match(header, { version: 1, timestamp: T });
  t.strictSame(header.features, []);
  t.strictSame(header.reference, filled(64, 0xff));
  t.strictSame(header.consensus, { kind: 'poa', skippedRounds: 0 });
  t.strictSame(header.generator, key.publicKey);
  verifyGenesis(block, verify);
  const pos = signGenesis(
    { ...settings, consensus: { kind: 'pos', initialBaseTarget: 153_722_867n } },
    key,
    scheme,
  );
  t.strictSame(pos.header.consensus, {
    kind: 'pos',
    baseTarget: 153_722_867n,
    generationSignature: filled(32, 0),
  });
});

t.test('scenario 4: an edited amount does not fit the signature', async (t) => {
  const { header } = signGenesis(settings, key, scheme);
  const seal = { publicKey: key.publicKey, signature: header.signature };
  const same = buildGenesis(settings, seal, scheme);
  verifyGenesis(same, verify);
  t.strictSame(decodeBlock(same.bytes, scheme).header.signature, header.signature);
  const [first, ...rest] = settings.transactions;
  const edited = { ...settings, transactions: [{ ...first!, amount: 1_001n }, ...rest] };
  const text = { message: 'Passed genesis signature is not valid' };
  t.throws(() => verifyGenesis(buildGenesis(edited, seal, scheme), verify), text);
  t.throws(() => buildGenesis(settings, { ...seal, signature: filled(63, 1) }, scheme), text);
  t.throws(() => buildGenesis(settings, { ...seal, publicKey: filled(31, 1) }, scheme), text);
});

t.test('version 4 says that senders need a role', async (t) => {
  const role = (version: 1 | 4, senderRoleEnabled: boolean) =>
    decodeBlock(signGenesis({ ...settings, version, senderRoleEnabled }, key, scheme).bytes, scheme)
      .header.senderRoleEnabled;
  t.equal(role(4, true), true);
  t.equal(role(4, false), undefined);
  t.equal(role(1, true), undefined, 'version 1 has no place for it');
});

t.test('scenario 6: the consensus type is part of the genesis id', async (t) => {
  const poa = signGenesis(settings, key, scheme);
  const pos = { kind: 'pos' as const, initialBaseTarget: 1n };
  const other = signGenesis({ ...settings, consensus: pos }, key, scheme);
  t.notSame(blockId(other), blockId(poa));
});

t.test('scenario 7: 127 transactions fit version 1, more need version 4', async (t) => {
  const many = (count: number, version: 1 | 4): GenesisSettings => ({
    ...settings,
    version,
    networkParticipants: [],
    transactions: Array.from({ length: count }, () => settings.transactions[0]!),
  });
  t.equal(signGenesis(many(127, 1), key, scheme).transactions.length, GENESIS_TRANSACTIONS_MAX);
  t.throws(() => signGenesis(many(128, 1), key, scheme), {
    message: "Too much transactions for genesis block: found '128', max count '127'",
  });
  t.equal(signGenesis(many(5000, 4), key, scheme).transactions.length, 5000);
});

t.test('no genesis is older than the protocol', async (t) => {
  const old = { ...settings, timestamp: GENESIS_TIMESTAMP_MIN - 1 };
  const seal = { publicKey: key.publicKey, signature: filled(64, 1) };
  t.throws(() => buildGenesis(old, seal, scheme), /block-timestamp/);
  t.ok(buildGenesis({ ...old, timestamp: GENESIS_TIMESTAMP_MIN }, seal, scheme));
});
