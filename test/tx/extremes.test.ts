/**
 * The largest, the smallest and the one-too-large of every member of every type and version: an
 * accepted value means the same in JSON, bytes, blocks and messages; a refusal has an entry of the
 * catalogue. EXTREMES=all also tests every pair of members.
 */
import t from 'tap';
import { equal } from '../../src/base/bytes.ts';
import { ApiError } from '../../src/base/errors.ts';
import { parse, stringify } from '../../src/base/json/json.ts';
import { decodeBlock, sealBlock } from '../../src/block/block.ts';
import { CodecError, Writer } from '../../src/codec/codec.ts';
import { decodeTxList, encodeTxList } from '../../src/network/messages/block-messages.ts';
import { limits } from '../../src/rest-framework/limits.ts';
import { compiledLayoutOf } from '../../src/tx/compiled-layout.ts';
import { txFromJson, txToJson } from '../../src/tx/json/encode.ts';
import { allTypes } from '../../src/tx/registry.ts';
import type { Layout, Tx, TxType } from '../../src/tx/transaction.ts';
import { decodeTx } from '../../src/tx/tx-bytes.ts';
import { type Extremes, extremesOf, type Json, membersOf, put } from '../generators/extremes.ts';
import { publicKeys, scheme } from '../generators/network.ts';
import { Rng } from '../generators/random.ts';
import { transactionOf } from '../generators/tx.ts';

type T = { fail(message: string): unknown };
const ALL_PAIRS = process.env['EXTREMES'] === 'all';

t.setTimeout(3_600_000);

/** The transaction, or the refusal; anything else that is thrown fails the test. */
function read(json: Json): Tx | ApiError {
  try {
    return txFromJson(json, scheme);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const accepts = (json: Json): boolean => !(read(json) instanceof ApiError);

/** One whose lists have items, so that there is something to grow. */
function sampleOf(def: TxType, layout: Layout): Tx {
  const samples = Array.from({ length: 40 }, (_, seed) =>
    transactionOf(def, layout, new Rng(seed)),
  ).filter((tx) => accepts(jsonOf(tx)));
  return samples.toSorted((a, b) => a.bytes.length - b.bytes.length).at(-1)!;
}

/** As a request: what clients leave out is left out. */
function jsonOf(tx: Tx): Json {
  const { id: _id, sender: _sender, ...json } = parse(stringify(txToJson(tx, scheme))) as Json;
  return json;
}

/** Through every door that takes bytes. */
function travel(tx: Tx): string | undefined {
  let again: Tx;
  try {
    again = decodeTx(tx.bytes, scheme);
  } catch (error) {
    // Bytes that fit both layouts of a type 14 are refused by the pool.
    if (error instanceof CodecError && error.message.includes('more than one')) return undefined;
    throw error;
  }
  if (again.layout !== tx.layout || !equal(again.id, tx.id)) return 'it reads as another one';
  const text = stringify(jsonOf(again));
  if (text.length > limits.body.json) return 'no request is long enough for it';
  const json = read(parse(text, limits.body.values) as Json);
  if (json instanceof ApiError || !equal(json.bytes, tx.bytes)) return 'its JSON is another one';
  const block = sealBlock(
    {
      version: 3,
      timestamp: 1,
      reference: new Uint8Array(64),
      consensus: { kind: 'poa', skippedRounds: 0 },
      generator: publicKeys[0]!,
      features: [],
    },
    [tx.bytes],
    scheme,
    () => new Uint8Array(64),
  );
  const [inBlock] = decodeBlock(block.bytes, scheme).transactions;
  const [inList] = decodeTxList(encodeTxList([tx.bytes], scheme), scheme);
  if (!equal(inBlock!, tx.bytes) || !equal(inList!, tx.bytes)) return 'its bytes changed';
  return undefined;
}

/** The bytes of the transaction with one field grown by one, whatever its codec says. */
function* grown(tx: Tx): Generator<Uint8Array> {
  const { names, wires } = compiledLayoutOf(tx.def, tx.layout);
  for (const [grownAt, grownName] of names.entries()) {
    const value = oneMore(tx.fields[grownName]);
    if (value === undefined) continue;
    const out = new Writer(scheme);
    if (tx.layout.frame === 'proven') out.u8(0);
    out.u8(tx.type);
    out.u8(tx.version);
    try {
      names.forEach((name, i) => {
        wires[i]!.write(out, i === grownAt ? value : tx.fields[name]);
      });
    } catch {
      continue; // has no bytes at all
    }
    out.u8(1);
    out.u16(0);
    yield out.take();
  }
}

function oneMore(value: unknown): unknown {
  if (typeof value === 'string') return `${value}x`;
  if (Array.isArray(value)) return [...value, value.at(-1)];
  if (value instanceof Uint8Array) return new Uint8Array(value.length + 1);
  return undefined;
}

let accepted = 0;
let refused = 0;

function judge(t: T, json: Json, label: string): void {
  const result = read(json);
  if (result instanceof ApiError) {
    refused++;
    if (result.status >= 500) t.fail(`${label}: ${result.message}`);
    return;
  }
  accepted++;
  const problem = travel(result);
  if (problem !== undefined) t.fail(`${label}: ${problem}`);
}

for (const def of allTypes) {
  for (const layout of def.layouts) {
    const name = `${def.type} v${layout.version} ${layout.variant ?? ''}`;
    t.test(name, (t) => {
      const sample = sampleOf(def, layout);
      const base = jsonOf(sample);
      const found = membersOf(sample, base).flatMap(
        (path) => extremesOf(base, path, accepts) ?? [],
      );
      t.ok(found.length > 0, `${found.length} members have limits`);
      let [allSmall, allLarge] = [base, base];
      for (const { path, smallest, largest, beyond } of found) {
        const label = `${name} ${path.join('.')}`;
        for (const value of [smallest, largest]) {
          const json = put(base, path, value);
          if (!accepts(json)) t.fail(`${label} is accepted alone`);
          judge(t, json, label);
        }
        for (const value of beyond) {
          const result = read(put(base, path, value));
          if (!(result instanceof ApiError)) t.fail(`${label}: one too large is accepted`);
          else if (result.status !== 400 && result.status !== 404) t.fail(label);
          refused++;
        }
        allSmall = ifReachable(allSmall, path, smallest);
        allLarge = ifReachable(allLarge, path, largest);
        const largestTx = read(put(base, path, largest));
        if (largestTx instanceof ApiError || layout.frame !== 'proven') continue;
        for (const bytes of grown(largestTx)) refuseOrRead(t, bytes, label);
      }
      judge(t, allSmall, `${name}, all smallest`);
      judge(t, allLarge, `${name}, all largest`);
      if (ALL_PAIRS)
        for (const [json, label] of pairs(base, found)) judge(t, json, `${name} ${label}`);
      t.end();
    });
  }
}

t.test('all of them', (t) => {
  t.comment(`${accepted} accepted, ${refused} refused`);
  t.ok(accepted > 500 && refused > 500, `${accepted} accepted, ${refused} refused`);
  t.end();
});

/** What holds the member may have been made empty before. */
function ifReachable(json: Json, path: Extremes['path'], value: unknown): Json {
  try {
    return put(json, path, value);
  } catch {
    return json;
  }
}

/** Bytes from a peer: a CodecError is the only thing that may be thrown. */
function refuseOrRead(t: T, bytes: Uint8Array, label: string): void {
  try {
    decodeTx(bytes, scheme);
  } catch (error) {
    if (!(error instanceof CodecError)) t.fail(`${label}: ${String(error)} in bytes`);
  }
}

function* pairs(base: Json, found: readonly Extremes[]): Generator<readonly [Json, string]> {
  for (const [i, one] of found.entries()) {
    for (const other of found.slice(i + 1)) {
      for (const a of [one.smallest, one.largest, ...one.beyond]) {
        for (const b of [other.smallest, other.largest, ...other.beyond]) {
          const json = ifReachable(put(base, one.path, a), other.path, b);
          yield [json, `${one.path.join('.')} and ${other.path.join('.')}`];
        }
      }
    }
  }
}
