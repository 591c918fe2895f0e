/**
 * What a unit of a script is worth (docs/protocol/scripts.md#metering): the time of each function,
 * with small and with large arguments, and of the reading of scripts, beside the units that they
 * charge.
 *
 *   node bench/measure/script-units.ts [part of a name]
 *
 * A line shows nanoseconds and units of one call, and nanoseconds of a unit, of the best run and of
 * the mean one, in the cryptography of both families. The state is in LMDB, as on a node.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { systemRandom } from '../../src/adapters/system.ts';
import type { Store } from '../../src/base/ports/store.ts';
import { candidateUnder } from '../../src/chain/store/stored-blocks.ts';
import { Writer } from '../../src/codec/codec.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { createFamily } from '../../src/crypto/families.ts';
import type { CryptoFamily, FamilyName } from '../../src/crypto/family.ts';
import { createCommittedView } from '../../src/ledger/committed-view.ts';
import type { Table } from '../../src/ledger/table.ts';
import {
  aliases,
  assetBalances,
  data,
  tables,
  transactionIds,
  transactions,
} from '../../src/ledger/tables.ts';
import { readingUnits } from '../../src/script/evaluation/charges.ts';
import { Meter, UNMETERED } from '../../src/script/evaluation/meter.ts';
import { programOf } from '../../src/script/evaluation/program.ts';
import { writeScript } from '../../src/script/language/binary.ts';
import type { Header, Tree } from '../../src/script/language/tree.ts';
import {
  type CaseObject,
  EvaluationFailure,
  type Value,
} from '../../src/script/language/values.ts';
import { createScripts } from '../../src/script/script.ts';
import { recordOf } from '../../src/tx/scripts/records.ts';
import { environmentOf } from '../../src/tx/scripts/script-environment.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { buildTx, signedBytes } from '../../src/tx/tx-bytes.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { massTransfer } from '../../src/tx/types/011-mass-transfer.ts';
import { data as dataType } from '../../src/tx/types/012-data.ts';
import { callContract } from '../../src/tx/types/104-call-contract.ts';

/** The best of many runs counts, since other programs interrupt some. */
const RUNS_MIN = 30;
const RUNS_MS = Number(process.env['RUNS_MS'] ?? 250);
const SIZES_MAX = 65_536;
const REPEATED = 100;
/** A short sample is seldom interrupted. */
const FEW = 2;
const CHAIN_ID = 84;

// ── trees ────────────────────────────────────────────────────────────────────────────────────

const TRUE: Tree = { op: 'bool', value: true };
const NO_KIND = text('?');

function text(value: string): Tree {
  return { op: 'string', value };
}
const bytes = (size: number, fill = 7): Tree => ({ op: 'bytes', value: filled(size, fill) });
const given = (value: Uint8Array): Tree => ({ op: 'bytes', value });
const long = (value: bigint): Tree => ({ op: 'long', value });
const call = (header: Header, ...args: readonly Tree[]): Tree => ({ op: 'call', header, args });
const name = (of: string): Tree => ({ op: 'ref', name: of });
const field = (of: Tree, called: string): Tree => ({ op: 'getter', of, field: called });
const block = (called: string, value: Tree, body: Tree): Tree => ({
  op: 'block',
  name: called,
  value,
  body,
});

const filled = (size: number, fill: number): Uint8Array => {
  const out = new Uint8Array(size).fill(fill);
  // Neither all zeros nor periodic in a way that a branch predictor learns.
  for (let i = 0; i < size; i++) out[i] = (fill * 31 + i * 197 + (i >> 8) * 13) & 0xff;
  return out;
};

/** So many conditions, one after the other, each of which asks for the value anew. */
function repeated(part: Tree, count: number): Tree {
  let tree: Tree = TRUE;
  for (let i = 0; i < count; i++) {
    tree = { op: 'if', test: call(1, part, NO_KIND), yes: TRUE, no: tree };
  }
  return tree;
}

interface Case {
  readonly name: string;
  readonly part: Tree;
  /** Declarations around all repetitions. */
  readonly around?: (tree: Tree) => Tree;
  readonly count?: number;
}

interface World {
  readonly family: CryptoFamily;
  readonly address: Uint8Array;
  readonly proof: Uint8Array;
  readonly smallId: Uint8Array;
  readonly wideId: Uint8Array;
  readonly longId: Uint8Array;
  readonly denseId: Uint8Array;
}

const LONG_TEXT = '€'.repeat(32_767);

function casesOf({
  family,
  address,
  proof,
  smallId,
  wideId,
  longId,
  denseId,
}: World): readonly Case[] {
  const { publicKey } = family.keyPairFromPhrase('alice');
  const account = call('Address', given(address));
  const alias = call('Alias', text('alice'));
  const message = field(name('tx'), 'bodyBytes');
  const both = (
    of: string,
    header: Header,
    small: readonly Tree[],
    large: readonly Tree[],
    count = REPEATED,
  ): readonly Case[] => [
    { name: of, part: call(header, ...small) },
    { name: `${of}, large`, part: call(header, ...large), count },
  ];
  const big = bytes(SIZES_MAX);
  const nested = (depth: number): Tree => {
    let tree: Tree = call('Alias', text('x'));
    for (let i = 0; i < depth; i++) tree = call('Alias', tree);
    return tree;
  };
  const hashed = (of: string, header: Header) => both(of, header, [bytes(32)], [big], FEW);
  return [
    { name: 'nothing', part: TRUE },
    { name: 'field', part: field(name('tx'), 'id') },
    { name: 'if', part: { op: 'if', test: TRUE, yes: TRUE, no: TRUE } },
    { name: 'block', part: block('x', TRUE, name('x')) },
    ...both('==', 0, [long(1n), long(2n)], [big, bytes(SIZES_MAX)]),
    { name: '== of texts', part: call(0, text(LONG_TEXT), text(`${LONG_TEXT.slice(1)}€`)) },
    {
      name: '== of records',
      part: call(0, name('a'), name('b')),
      around: (tree) => block('a', nested(300), block('b', nested(300), tree)),
    },
    {
      name: '== of transactions',
      part: call(0, name('a'), name('b')),
      around: (tree) =>
        block('a', call(1000, given(wideId)), block('b', call(1000, given(wideId)), tree)),
    },
    ...[100, 101, 104].flatMap((header) => ({
      name: `arithmetic ${header}`,
      part: call(header, long(1_234_567_890_123n), long(9_876n)),
    })),
    ...[102, 103].map((header) => ({
      name: `comparison ${header}`,
      part: call(header, long(2n ** 62n), long(2n ** 62n + 1n)),
    })),
    ...[105, 106].map((header) => ({
      name: `division ${header}`,
      part: call(header, long(-(2n ** 62n)), long(9_876n)),
    })),
    { name: 'fraction', part: call(107, long(2n ** 62n), long(2n ** 62n), long(2n ** 62n + 1n)) },
    ...both('size of bytes', 200, [bytes(1)], [big]),
    ...both('take of bytes', 201, [bytes(32), long(16n)], [big, long(65_535n)]),
    ...both('drop of bytes', 202, [bytes(32), long(16n)], [big, long(1n)]),
    ...both('+ of bytes', 203, [bytes(1), bytes(1)], [bytes(32_768), bytes(32_768)]),
    ...both(
      '+ of texts',
      300,
      [text('a'), text('b')],
      [text(LONG_TEXT.slice(16_384)), text(LONG_TEXT.slice(16_384))],
    ),
    {
      name: '+ and use of texts, large',
      part: call(
        305,
        call(
          303,
          call(300, text(LONG_TEXT.slice(16_384)), text(LONG_TEXT.slice(16_384))),
          long(32_000n),
        ),
      ),
    },
    ...both('take of text', 303, [text('abc'), long(1n)], [text(LONG_TEXT), long(32_000n)]),
    ...both('drop of text', 304, [text('abc'), long(1n)], [text(LONG_TEXT), long(1n)]),
    { name: 'size of text', part: call(305, text('abc')) },
    { name: 'size of list', part: call(400, field(name('tx'), 'proofs')) },
    { name: 'getElement', part: call(401, field(name('tx'), 'proofs'), long(0n)) },
    { name: 'toBytes of Int', part: call(410, long(5n)) },
    ...both('toBytes of text', 411, [text('abc')], [text(LONG_TEXT.slice(0, 21_845))]),
    { name: 'toBytes of latin text, large', part: call(411, text('x'.repeat(32_767))) },
    { name: 'toBytes of Boolean', part: call(412, TRUE) },
    { name: 'toString of Int', part: call(420, long(-(2n ** 62n))) },
    { name: 'toString of Boolean', part: call(421, TRUE) },
    { name: 'sigVerify', part: call(500, message, given(proof), given(publicKey)), count: FEW },
    {
      name: 'sigVerify, two unknown keys',
      part: call(
        0,
        call(500, message, given(proof), given(family.keyPairFromPhrase('bob').publicKey)),
        call(500, message, given(proof), given(publicKey)),
      ),
      count: FEW,
    },
    { name: 'sigVerify, large', part: call(500, big, given(proof), given(publicKey)), count: FEW },
    ...hashed('keccak256', 501),
    ...hashed('blake2b256', 502),
    ...hashed('sha256', 503),
    ...hashed('secureHash', 504),
    ...both('toBase58String', 600, [bytes(1)], [bytes(64)]),
    ...both('fromBase58String', 601, [text('a')], [text('z'.repeat(100))]),
    ...both('toBase64String', 602, [bytes(1)], [bytes(32_768)]),
    ...both('fromBase64String', 603, [text('AAAA')], [text('A'.repeat(43_688))]),
    { name: 'transactionById', part: call(1000, given(smallId)) },
    { name: 'transactionById, data, large', part: call(1000, given(longId)), count: FEW },
    { name: 'transactionById, 4,000 parameters', part: call(1000, given(denseId)), count: FEW },
    { name: 'transactionById, mass transfer', part: call(1000, given(wideId)), count: FEW },
    { name: 'transactionById, none', part: call(1000, bytes(32)) },
    { name: 'transactionHeightById', part: call(1001, given(smallId)) },
    { name: 'transactionHeightById, large', part: call(1001, given(longId)), count: FEW },
    { name: 'assetBalance', part: call(1003, account, bytes(32)) },
    { name: 'assetBalance of an alias', part: call(1003, alias, bytes(32)) },
    ...both(
      'getString of a list',
      1043,
      [field(name('t'), 'data'), text('key 0')],
      [field(name('t'), 'data'), text('key 99')],
    ).map((one) => ({
      ...one,
      around: (tree: Tree) => block('t', call(1000, given(longId)), tree),
    })),
    { name: 'getString of an account', part: call(1053, account, text('small')) },
    {
      name: 'getString of an account, large',
      part: call(1053, account, text('large')),
      count: FEW,
    },
    { name: 'getBinary of an account, large', part: call(1052, account, text('binary')) },
    { name: 'getString of an account, none', part: call(1053, account, text('x'.repeat(4000))) },
    { name: 'getString of an alias', part: call(1053, alias, text('small')) },
    { name: 'addressFromRecipient', part: call(1060, alias) },
    { name: '!', part: call('!', TRUE) },
    { name: '-', part: call('-', long(5n)) },
    { name: 'isDefined', part: call('isDefined', TRUE) },
    { name: 'extract', part: call('extract', TRUE) },
    ...both('takeRight', 'takeRight', [text('abc'), long(1n)], [text(LONG_TEXT), long(32_000n)]),
    ...both('dropRightBytes', 'dropRightBytes', [bytes(3), long(1n)], [big, long(1n)]),
    ...both('addressFromPublicKey', 'addressFromPublicKey', [bytes(32)], [big], FEW),
    {
      name: 'addressFromString',
      part: call('addressFromString', text('3NA1RGzcKBb1fmMzvz2Wga8nVSGZDWMJHMe')),
    },
    { name: 'wavesBalance', part: call('wavesBalance', account) },
    { name: 'Alias', part: call('Alias', text('x')) },
    { name: 'Order', part: call('Order', ...Array.from({ length: 14 }, () => TRUE)) },
  ];
}

// ── readings ─────────────────────────────────────────────────────────────────────────────────

const DOUBLINGS = 14;
const LEVELS = 900;

/** Scripts that come into the state: many steps of the estimate, many nodes, many bytes. */
function readingCases(): readonly (readonly [name: string, tree: Tree])[] {
  const twice = (of: string): Tree => ({ op: 'if', test: TRUE, yes: name(of), no: name(of) });
  let doubled: Tree = name(`x${DOUBLINGS}`);
  for (let i = DOUBLINGS; i > 0; i--) doubled = block(`x${i}`, twice(`x${i - 1}`), doubled);
  let nodes: Tree = TRUE;
  for (let i = 0; i < LEVELS; i++) nodes = { op: 'if', test: nodes, yes: TRUE, no: TRUE };
  return [
    ['reading, paths', block('x0', TRUE, doubled)],
    ['reading, nodes', nodes],
    ['reading, bytes', call(200, bytes(8000))],
    ['reading, little', TRUE],
  ];
}

function measuredReading(tree: Tree, { secureHash, charges }: CryptoFamily): Measured {
  const script = writeScript(1, tree, secureHash);
  return timed(1, () => readingUnits(createScripts(secureHash).read(script), charges));
}

// ── the state ────────────────────────────────────────────────────────────────────────────────

async function worldOf(family: CryptoFamily, store: Store) {
  const scheme = createChainScheme(family, CHAIN_ID);
  const { publicKey, privateKey } = family.keyPairFromPhrase('alice');
  const address = scheme.addressOf(publicKey);
  const row = <K, V>(table: Table<K, V>, key: K, value: V) => {
    const out = new Writer(scheme);
    table.value.write(out, value);
    return { table: table.id, key: table.key.encode(key), value: out.take() };
  };
  const sealed = (def: unknown, layout: number, fields: object): Tx => {
    const type = def as typeof transfer;
    const values = { senderPublicKey: publicKey, timestamp: 1, fee: 1n, ...fields } as never;
    const message = signedBytes(buildTx(type, type.layouts[layout]!, values, [], scheme));
    const proofs = [family.sign(privateKey, message, systemRandom)];
    return buildTx(type, type.layouts[layout]!, values, proofs, scheme) as unknown as Tx;
  };
  const to = (i: number) => ({
    kind: 'address' as const,
    bytes: scheme.addressOf(family.keyPairFromPhrase(`to ${i}`).publicKey),
  });
  const small = sealed(transfer, 1, {
    amount: 1n,
    recipient: to(0),
    attachment: new Uint8Array(0),
  });
  const wide = sealed(massTransfer, 0, {
    transfers: Array.from({ length: 100 }, (_, i) => ({ recipient: to(i), amount: 1n })),
    attachment: new Uint8Array(0),
  });
  const largest = sealed(dataType, 0, {
    authorPublicKey: publicKey,
    data: Array.from({ length: 100 }, (_, i) => ({
      key: `key ${i}`,
      type: 'string' as const,
      value: '€'.repeat(500),
    })),
  });
  const dense = sealed(callContract, 0, {
    contractId: filled(32, 7),
    params: Array.from({ length: 4000 }, (_, i) => ({
      key: i.toString(36),
      type: 'boolean' as const,
      value: true,
    })),
  });
  const found = [small, wide, largest, dense];
  await store.write([
    row(aliases, 'alice', address),
    row(assetBalances, [address, filled(32, 7)], 5n),
    row(data, [address, 'small'], { type: 'string', value: 'x' }),
    row(data, [address, 'large'], { type: 'string', value: '€'.repeat(21_845) }),
    row(data, [address, 'binary'], { type: 'binary', value: filled(65_535, 7) }),
    ...found.flatMap((tx, index) => [
      row(transactionIds, tx.id.slice(0, 16), { height: 5, index }),
      row(transactions, [5, index], tx.bytes),
    ]),
  ]);
  const view = createCommittedView(store, scheme);
  const record = (): CaseObject => recordOf(small, scheme, 'account')!;
  const env = environmentOf(
    { view, height: 100, find: (id) => candidateUnder(view, id) },
    'account',
    record,
    (message, signature, key) => scheme.verify(key, message, signature),
  );
  const world: World = {
    family,
    address,
    proof: small.proofs[0]!,
    smallId: small.id,
    wideId: wide.id,
    longId: largest.id,
    denseId: dense.id,
  };
  return { env, world };
}

// ── measuring ────────────────────────────────────────────────────────────────────────────────

interface Measured {
  /** Of the best run. */
  readonly ns: number;
  /** Processor time of the mean run, with what the collector of garbage takes. */
  readonly meanNs: number;
  readonly units: number;
}

type Environment = Awaited<ReturnType<typeof worldOf>>['env'];

/** One call with the condition around it. */
function measured(
  { name: of, part, around = (tree) => tree, count = REPEATED }: Case,
  env: Environment,
): Measured {
  const program = programOf(around(repeated(part, count)), 1, 0);
  return timed(count, () => {
    const meter = new Meter(UNMETERED - 1);
    const { result } = program.run(env, meter);
    if (isWrong(result)) throw new Error(`${of}: ${(result as Error).message}`);
    return meter.used;
  });
}

/** `work` returns its units, those of `count` calls. */
function timed(count: number, work: () => number): Measured {
  const begun = performance.now();
  const cpu = process.cpuUsage();
  let ns = Number.POSITIVE_INFINITY;
  let units = 0;
  let runs = 0;
  for (; runs < RUNS_MIN || performance.now() - begun < RUNS_MS; runs++) {
    const from = process.hrtime.bigint();
    units = work();
    ns = Math.min(ns, Number(process.hrtime.bigint() - from));
  }
  const { user, system } = process.cpuUsage(cpu);
  const meanNs = ((user + system) * 1000) / runs;
  return { ns: ns / count, meanNs: meanNs / count, units: units / count };
}

const isWrong = (result: Value | EvaluationFailure): boolean => result instanceof EvaluationFailure;

async function main(wanted = ''): Promise<void> {
  const results = new Map<string, string[]>();
  for (const family of ['curve25519', 'gost'] as const satisfies readonly FamilyName[]) {
    const folder = mkdtempSync(join(tmpdir(), 'script-units-'));
    const store = await openLmdbStore({ folder, tables });
    const { env, world } = await worldOf(createFamily(family, { cachedKeys: 1 }), store);
    const all: readonly (readonly [string, () => Measured])[] = [
      ...casesOf(world).map((one) => [one.name, () => measured(one, env)] as const),
      ...readingCases().map(
        ([of, tree]) => [of, () => measuredReading(tree, createFamily(family))] as const,
      ),
    ];
    for (const [of, measure] of all) {
      if (!of.includes(wanted)) continue;
      const { ns, meanNs, units } = measure();
      const line = [
        ns.toFixed(0),
        units.toFixed(0),
        (ns / units).toFixed(1),
        (meanNs / units).toFixed(1),
      ];
      const lines = results.get(of) ?? [];
      lines.push(...line.map((part) => part.padStart(9)));
      results.set(of, lines);
    }
    await store.close();
    rmSync(folder, { recursive: true });
  }
  const head = ['ns', 'units', 'best', 'mean'].map((part) => part.padStart(9)).join('');
  process.stdout.write(`${' '.repeat(34)}${head}${head}   curve25519, gost\n`);
  for (const [of, line] of results) process.stdout.write(`${of.padEnd(34)}${line.join('')}\n`);
}

await main(process.argv[2]);
