/** Chunks hold the announced data, no more and no less. */
import t from 'tap';
import type { PeerStream } from '../../../src/base/ports/network.ts';
import {
  inChunks,
  received,
  splitHeader,
  WrongData,
} from '../../../src/privacy/protocol/chunks.ts';
import { HEADER_BYTES_MAX } from '../../../src/privacy/protocol/privacy-messages.ts';

async function* of(...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const size of sizes) yield new Uint8Array(size);
}

async function sum(pieces: AsyncIterable<Uint8Array>, total: number): Promise<number> {
  let bytes = 0;
  for await (const { plain } of inChunks(pieces, total)) bytes += plain.length;
  return bytes;
}

t.test('data that a store gives in pieces', async (t) => {
  t.equal(await sum(of(), 0), 0);
  t.equal(await sum(of(3, 200_000, 7), 200_010), 200_010);
  await t.rejects(sum(of(3, 8), 10), { message: 'more data than there should be' });
  await t.rejects(sum(of(3, 6), 10), { message: 'less data than there should be' });
});

t.test('the header before the data of a peer', async (t) => {
  async function* starting(length: number, sent: number): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.alloc(4 + sent);
    bytes.writeUInt32BE(length);
    for (let at = 0; at < bytes.length; at += 3) yield bytes.subarray(at, at + 3);
  }
  t.equal((await splitHeader(starting(5, 9))).header.length, 5);
  const wrong = { message: 'the header is not whole' };
  for (const sent of [0, 4]) await t.rejects(splitHeader(starting(5, sent)), wrong);
  await t.rejects(splitHeader(of()), wrong);
  const long = splitHeader(starting(HEADER_BYTES_MAX + 1, 9));
  await t.rejects(long, new WrongData('the header is too long'));
});

t.test('the chunks of a peer', async (t) => {
  const chunk = (bytes: number, last = false): Uint8Array => Uint8Array.of(bytes, last ? 1 : 0);
  /** A chunk of so many bytes; none opens a message of another length. */
  const open = ([bytes, last, ...more]: Uint8Array) =>
    more.length > 0 ? undefined : { plain: new Uint8Array(bytes!), last: last === 1 };
  async function read(...messages: readonly Uint8Array[]): Promise<number> {
    const left = messages.values();
    const stream = { receive: async () => left.next().value } as PeerStream;
    let sum = 0;
    for await (const piece of received(stream, open)) sum += piece.length;
    return sum;
  }
  t.equal(await read(chunk(5), chunk(3, true)), 8);
  t.equal(await read(chunk(0, true)), 0);
  const cases: readonly (readonly [string, ...Uint8Array[]])[] = [
    ['the data end too early'],
    ['the data end too early', chunk(5)],
    ['a chunk is not genuine', chunk(5), new Uint8Array(3)],
    ['a chunk is empty', chunk(0), chunk(5, true)],
    ['there is more than the data', chunk(5, true), chunk(5)],
  ];
  for (const [why, ...messages] of cases) await t.rejects(read(...messages), new WrongData(why));
});
