// tx encode|decode|verify against transactions of real client libraries.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { jsonLines, lines, run } from '../../run.ts';

const VECTORS = join(import.meta.dirname, '../../../vectors/transactions.json');

interface Vector {
  readonly name: string;
  readonly json: Record<string, unknown>;
  readonly fullBytesHex: string;
  readonly nodeId: string;
  readonly accept: boolean;
}
const { vectors } = JSON.parse(readFileSync(VECTORS, 'utf8')) as { vectors: Vector[] };
const accepted = vectors.filter(({ accept }) => accept);
const ndjson = accepted.map(({ json }) => `${JSON.stringify(json)}\n`).join('');

t.test('a pipeline keeps order and loses nothing', async (t) => {
  t.ok(accepted.length > 100);
  const encoded = await run(['tx', 'encode', '--ndjson', '-c', 'T'], { input: ndjson });
  t.equal(encoded.code, 0, encoded.stderr);
  const found = jsonLines(encoded.stdout);
  t.equal(found.length, accepted.length);
  for (const [i, { name, fullBytesHex, nodeId }] of accepted.entries()) {
    t.equal(found[i]?.['bytes'], fullBytesHex, name);
    t.equal(found[i]?.['id'], nodeId, name);
  }
  const decoded = await run(['tx', 'decode', '-c', 'T'], { input: encoded.stdout });
  t.equal(decoded.code, 0);
  t.same(
    jsonLines(decoded.stdout).map(({ id }) => id),
    accepted.map(({ nodeId }) => nodeId),
  );
  const verified = await run(['tx', 'verify', '--ndjson', '-c', 'T'], { input: ndjson });
  t.equal(verified.code, 0);
  t.ok(jsonLines(verified.stdout).every(({ valid }) => valid === true));
});

t.test('forms of input', async (t) => {
  const { json, fullBytesHex, nodeId } = accepted[0]!;
  const pretty = JSON.stringify(json, null, 2);
  const one = await run(['tx', 'encode', '-c', 'T'], { input: pretty });
  t.match(jsonLines(one.stdout), [{ id: nodeId, bytes: fullBytesHex }]);
  const list = await run(['tx', 'encode', '-c', 'T', '-'], { input: `[${pretty},${pretty}]` });
  t.equal(lines(list.stdout).length, 2);
  for (const flags of [[], ['--ndjson']]) {
    const input = `\uFEFF${JSON.stringify(json)}\n`;
    const marked = await run(['tx', 'encode', '-c', 'T', ...flags], { input });
    t.strictSame(jsonLines(marked.stdout), jsonLines(one.stdout), 'with a byte order mark');
  }
  const { base58 } = await import('../../../../src/base/base58.ts');
  const text = base58.encode(Buffer.from(fullBytesHex, 'hex'));
  const decoded = await run(['tx', 'decode', '-c', 'T'], { input: `${text}\n${fullBytesHex}\n` });
  const [a, b] = lines(decoded.stdout);
  t.equal(a, b);
  const valid = await run(['tx', 'verify', '-c', 'T'], { input: text });
  t.match(jsonLines(valid.stdout), [{ id: nodeId, valid: true }]);
});

t.test('a line that fails stands in its place', async (t) => {
  const good = JSON.stringify(accepted[0]!.json);
  const forged = JSON.stringify({ ...accepted[0]!.json, fee: 100_000_001 });
  const input = `${good}\nnonsense\n{"type":4,"version":2}\n[]\n${forged}\n${good}\n`;
  const encoded = await run(['tx', 'encode', '--ndjson', '-c', 'T'], { input });
  t.equal(encoded.code, 1);
  const found = jsonLines(encoded.stdout);
  t.same(
    found.map(({ error }) => error),
    [undefined, 1, 1, 1, undefined, undefined],
  );
  t.match(found[1], { message: 'failed to parse json message' });
  const verified = await run(['tx', 'verify', '--ndjson', '-c', 'T'], {
    input: `${good}\n${forged}\n`,
  });
  t.equal(verified.code, 1);
  t.same(
    jsonLines(verified.stdout).map(({ valid }) => valid),
    [true, false],
  );
  const decoded = await run(['tx', 'decode', '-c', 'T'], { input: '00\n0O\n\nff\n' });
  t.equal(decoded.code, 1);
  t.equal(lines(decoded.stdout).length, 3);
  t.ok(jsonLines(decoded.stdout).every(({ error }) => error === 199));
});

t.test('another network', async (t) => {
  const transfer = accepted.find(({ json }) => json['type'] === 4)!;
  const { code, stdout } = await run(['tx', 'encode', '-c', 'W'], {
    input: JSON.stringify(transfer.json),
  });
  t.equal(code, 1);
  t.match(jsonLines(stdout)[0], { message: /Data from other network/ });
});

t.test('nothing is not valid', async (t) => {
  for (const input of ['', '\n', '\uFEFF\n']) {
    const empty = await run(['tx', 'verify', '-c', 'T'], { input });
    t.match(empty, { code: 1, stdout: '', stderr: 'The input is empty\n' }, JSON.stringify(input));
  }
  const stream = await run(['tx', 'verify', '-c', 'T', '--ndjson']);
  t.match(stream, { code: 0, stdout: '' }, 'a stream may have no line');
});

t.test('integers stay exact', async (t) => {
  const transfer = accepted.find(({ json }) => json['type'] === 4 && json['version'] === 2)!;
  const withAmount = (literal: string) =>
    JSON.stringify({ ...transfer.json, amount: 0 }).replace('"amount":0', `"amount":${literal}`);
  for (const literal of ['9007199254740993', '9007199254740993.0', '123456789012345678.00']) {
    const encoded = await run(['tx', 'encode', '-c', 'T'], { input: withAmount(literal) });
    const decoded = await run(['tx', 'decode', '-c', 'T'], { input: encoded.stdout });
    t.ok(decoded.stdout.includes(`"amount":${literal.replace(/\..*/, '')},`), decoded.stdout);
  }
  for (const literal of ['9.007199254740993e15', '9007199254740993e0', '9007199254740993.5']) {
    const { code, stdout } = await run(['tx', 'encode', '-c', 'T'], { input: withAmount(literal) });
    t.equal(code, 1);
    t.match(stdout, /error\.expected\.long/, literal);
  }
});

t.test('a node that is not there', async (t) => {
  const url = ['--url', 'http://127.0.0.1:1'];
  for (const args of [
    ['node', 'status'],
    ['tx', 'broadcast', '--ndjson'],
  ]) {
    const { code, stderr } = await run([...args, ...url], { input: ndjson });
    t.equal(code, 1);
    t.match(stderr, /^No node answers at http:\/\/127\.0\.0\.1:1: .*\n$/);
  }
});
