/**
 * The program in the containers of a hostile author. ROLE says what its calls do; creations succeed,
 * so that there is a contract to call.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as dial } from 'node:net';

const {
  NODE = '',
  NODE_PORT = '',
  CONNECTION_ID = '',
  CONNECTION_TOKEN = '',
  ROLE = '',
} = process.env;
const HEAD_BYTES = 5;
const CREATE = 103;

interface Call {
  readonly id: Buffer;
  readonly token: string;
}

type Role = (call: Call) => void | Promise<void>;

const ROLES: Readonly<Record<string, Role>> = {
  /** Messages that never end, one byte a frame, on as many streams as there may be. */
  frames({ token }) {
    for (let i = 0; i < 60; i++) {
      const stream = open('ContractService/GetContractKeys', token);
      const more = (): void => {
        if (!stream.destroyed && stream.write(Buffer.of(0))) setImmediate(more);
      };
      stream.on('drain', more);
      more();
    }
  },

  /** Thousands of ranges, all of them empty. */
  async ranges({ id, token }) {
    for (const address of readFileSync('/app/addresses', 'utf8').split('\n')) {
      await answered(ask('AddressService/GetAddressData', token, [[1, Buffer.from(address)]]));
    }
    commit(id, token, []);
  },

  /** As many rows as a result may have. */
  rows({ id, token }) {
    commit(
      id,
      token,
      Array.from({ length: 12_000 }, (_, i) => ({ key: `k${i}`, value: '' })),
    );
  },

  /** A pattern that takes its time, against its own rows. */
  async patterns({ id, token }) {
    const matches = message([[1, Buffer.from(EVIL)]]);
    for (let i = 0; i < 20; i++) {
      await answered(ask('ContractService/GetContractKeys', token, [[4, matches]]));
    }
    commit(id, token, []);
  },

  /** Lists of nothing. */
  async empties({ id, token }) {
    const balances = Buffer.from(Array.from({ length: 65_536 }, () => [10, 0]).flat());
    const keys = message([
      [5, Buffer.from(Array.from({ length: 2_000_000 }, () => [10, 0]).flat())],
    ]);
    for (let i = 0; i < 20; i++) {
      await answered(send('ContractService/GetContractBalances', token, balances));
      await answered(send('ContractService/GetContractKeys', token, keys));
    }
    commit(id, token, []);
  },

  /** Reads all its rows and changes one of them later, so that others become stale. */
  async stale({ id, token }) {
    await answered(ask('ContractService/GetContractKeys', token, []));
    setTimeout(() => commit(id, token, [{ key: `${Date.now()}`, value: '' }]), 300);
  },

  again({ id, token }) {
    // 1: another attempt may succeed.
    const code = Buffer.of((3 << 3) | 0, 1);
    send('ContractService/CommitExecutionError', token, Buffer.concat([message([[1, id]]), code]));
  },

  slow({ id, token }) {
    setTimeout(() => commit(id, token, []), 1000);
  },

  ends() {
    process.exit(1);
  },

  /** Who runs it, and then all that the container may have of the machine. */
  async greedy({ id, token }) {
    const user = `${process.getuid?.()}:${process.getgid?.()}`;
    await answered(commit(id, token, [{ key: 'user', value: user }]));
    for (let i = 0; i < 100; i++) {
      spawn(process.execPath, ['-e', 'for (const all = []; ; ) all.push(Buffer.alloc(1e6, 1))'])
        // The container may have no more processes.
        .on('error', () => {});
    }
  },

  /** Connections that stay, each with a request. */
  connections({ token }) {
    for (let i = 0; i < 200; i++) answered(ask('UtilService/GetNodeTime', token, [], begin()));
  },

  /**
   * Connections that end before anybody looks, each with as much as a message may have. Several at a
   * time, as a slow machine would otherwise keep the rate below the limit.
   */
  async traffic({ token }) {
    const lane = async (): Promise<void> => {
      for (let i = 0; i < 5; i++) {
        const session = begin();
        const stream = open('UtilService/GetNodeTime', token, session);
        await new Promise<void>((resolve) => {
          stream.on('close', () => resolve()).end(Buffer.alloc(2 ** 21), () => resolve());
        });
        session.destroy();
      }
    };
    await Promise.all(Array.from({ length: 8 }, lane));
  },
};

const EVIL = `(${'(a|b|k)?'.repeat(40)}k?[0-9]*)*`.slice(0, 480);

let http: ClientHttp2Session;

function begin(): ClientHttp2Session {
  const createConnection = () =>
    NODE === 'unix' ? dial(NODE_PORT) : dial(Number(NODE_PORT), NODE);
  return connect('http://localhost', { createConnection }).on('error', () => {});
}

function start(): void {
  http = begin();
  const calls = ask('ContractService/Connect', CONNECTION_TOKEN, [[1, Buffer.from(CONNECTION_ID)]]);
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
}

function execute(bytes: Buffer): void {
  const { 1: transaction, 2: token } = fieldsOf(bytes);
  const { 1: id, 2: type } = fieldsOf(transaction as Buffer);
  const call = { id: id as Buffer, token: String(token) };
  if (type === CREATE) commit(call.id, call.token, []);
  else void ROLES[ROLE]?.(call);
}

interface Row {
  readonly key: string;
  readonly value: string;
}

function commit(id: Buffer, token: string, rows: readonly Row[]): ClientHttp2Stream {
  const results = rows.map(
    ({ key, value }): Field => [
      2,
      message([
        [1, Buffer.from(key)],
        [13, Buffer.from(value)],
      ]),
    ],
  );
  return ask('ContractService/CommitExecutionSuccess', token, [[1, id], ...results]).resume();
}

type Field = readonly [number: number, bytes: Buffer];

function open(method: string, token: string, session = http): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': `/wavesenterprise.${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: token,
  });
  stream.on('error', () => {});
  return stream;
}

function send(method: string, token: string, bytes: Buffer, session = http): ClientHttp2Stream {
  const stream = open(method, token, session);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(bytes.length, 1);
  stream.end(Buffer.concat([head, bytes]));
  return stream;
}

const ask = (
  method: string,
  token: string,
  fields: readonly Field[],
  session = http,
): ClientHttp2Stream => send(method, token, message(fields), session);

const answered = (stream: ClientHttp2Stream): Promise<void> =>
  new Promise((resolve) => {
    stream.resume();
    stream.on('close', resolve);
  });

const message = (fields: readonly Field[]): Buffer =>
  Buffer.concat(
    fields.flatMap(([number, bytes]) => [
      Buffer.from([(number << 3) | 2, ...varint(bytes.length)]),
      bytes,
    ]),
  );

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

/** The first field of each number: its bytes, or its value where it is a number. */
function fieldsOf(bytes: Buffer): Record<number, Buffer | number> {
  const found: Record<number, Buffer | number> = {};
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = number();
    const value = number();
    if ((tag & 7) === 2) {
      found[tag >> 3] ??= bytes.subarray(at, at + value);
      at += value;
    } else found[tag >> 3] ??= value;
  }
  return found;
}

/** One that never connects starts a container, and nothing else. */
if (ROLE === 'silent') setInterval(() => {}, 60_000);
else start();
