/**
 * The program of a container: a contract of the gRPC interface with as little work as possible. Its
 * only result is the first parameter, whose bytes it sends back as they came. A parameter `sleep`
 * makes it wait first.
 */
import { type ClientHttp2Stream, connect } from 'node:http2';
import { connect as dial } from 'node:net';

const { NODE_PORT = '', CONNECTION_ID = '', CONNECTION_TOKEN = '' } = process.env;
const HEAD_BYTES = 5;
const SLEEP_MS = 400;
const http = connect('http://localhost', { createConnection: () => dial(NODE_PORT) });

const calls = request('Connect', CONNECTION_TOKEN, [[1, Buffer.from(CONNECTION_ID)]]);
let waiting: Buffer = Buffer.alloc(0);
calls.on('data', (piece: Buffer) => {
  waiting = waiting.length === 0 ? piece : Buffer.concat([waiting, piece]);
  while (waiting.length >= HEAD_BYTES) {
    const end = HEAD_BYTES + waiting.readUInt32BE(1);
    if (waiting.length < end) return;
    execute(waiting.subarray(HEAD_BYTES, end));
    waiting = waiting.subarray(end);
  }
});
calls.on('close', () => process.exit());

function execute(call: Buffer): void {
  const { 1: transaction, 2: token } = fieldsOf(call);
  const { 1: id, 6: param } = fieldsOf(transaction!);
  const commit = (): void => {
    const results: Field[] = param === undefined ? [] : [[2, param]];
    request('CommitExecutionSuccess', token!.toString('latin1'), [[1, id!], ...results]).resume();
  };
  if (param?.includes('sleep')) setTimeout(commit, SLEEP_MS);
  else commit();
}

type Field = readonly [number: number, bytes: Buffer];

function request(method: string, token: string, fields: readonly Field[]): ClientHttp2Stream {
  const stream = http.request({
    ':method': 'POST',
    ':path': `/wavesenterprise.ContractService/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: token,
  });
  const parts = fields.flatMap(([number, bytes]) => [
    Buffer.from([(number << 3) | 2, ...varint(bytes.length)]),
    bytes,
  ]);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(
    parts.reduce((sum, { length }) => sum + length, 0),
    1,
  );
  stream.end(Buffer.concat([head, ...parts]));
  return stream;
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
}

/** The first field of each number that has a length. */
function fieldsOf(message: Buffer): Record<number, Buffer> {
  const found: Record<number, Buffer> = {};
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = number();
    const length = number();
    if ((tag & 7) !== 2) continue;
    found[tag >> 3] ??= message.subarray(at, at + length);
    at += length;
  }
  return found;
}
