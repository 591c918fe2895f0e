// Bodies of many megabytes: read in turns where that takes long, with a limit on their total size
// in memory.
import { createHash } from 'node:crypto';
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { KIB, MIB } from '../../src/base/limits/budget.ts';
import { inOneGo } from '../../src/concurrency/steps.ts';
import { privacy } from '../../src/rest/routes/privacy.ts';
import { createLongBodies, LongBody } from '../../src/rest-framework/long-bodies.ts';
import { memoryNode } from '../rest/fixtures/memory-node.ts';

const around = {
  sender: 's',
  policyId: 'p',
  hash: 'h',
  info: { filename: '', size: '1', timestamp: 1, author: '', comment: '' },
};

/** As clients write it who escape what HTML or scripts might take for their own. */
const escaped = (base64: string): string =>
  base64.replaceAll('/', '\\/').replaceAll('=', '\\u003d').replaceAll('+', '\\u002B');

const bodyWith = (data: string, fields: object = around): string =>
  `{"data":"${data}",${JSON.stringify(fields).slice(1)}`;

/** Of every byte, hence with every character. */
const base64Of = (bytes: number): string =>
  Buffer.alloc(bytes, Uint8Array.from(Array(256).keys())).toString('base64');

const textOf = (data: unknown): string => Buffer.from(data as Uint8Array).toString();

const parse = (text: string) => privacy.sendData.body!.parse(Buffer.from(text));

t.test('escapes are taken out at once in a short body, in steps in a long one', async (t) => {
  const short = base64Of(10 * KIB);
  const now = parse(bodyWith(escaped(short)));
  t.notOk(now instanceof LongBody);
  t.equal(textOf((now as { data: unknown }).data), short);
  const long = base64Of(2 * MIB);
  const later = parse(bodyWith(escaped(long)));
  if (!(later instanceof LongBody)) throw new Error('read in one go');
  const value = inOneGo(later.steps);
  t.equal(textOf(value.data), long);
  t.match(value, around);
  t.notOk(parse(bodyWith(long)) instanceof LongBody, 'without escapes nothing takes long');
});

t.test('a malformed escape', async (t) => {
  const refused = { code: 1 };
  t.throws(() => parse(bodyWith('AAAA\\x')), refused);
  const long = parse(bodyWith(`${'AAAA'.repeat(MIB)}\\x`));
  t.throws(() => inOneGo((long as LongBody<unknown>).steps), refused);
  t.throws(() => parse(bodyWith('\\"'.repeat(2 * MIB))), refused, 'nobody looks at all of them');
  t.throws(() => parse(`{"data":"${'A'.repeat(2 * MIB)}`), refused, 'without end');
});

t.test('all bodies in turns together are bounded', async (t) => {
  let turns = 0;
  const clock = { monotonic: () => 10 * performance.now(), turn: async () => void turns++ };
  const { read } = createLongBodies(clock, 2 * MIB);
  function* steps(): Generator<undefined, string> {
    for (const end = performance.now() + 5; performance.now() < end; ) yield undefined;
    return 'read';
  }
  const body = () => new LongBody(MIB, steps());
  const [one, two, three] = [read(body()), read(body()), read(body())];
  await t.rejects(three, { code: 503 });
  t.strictSame(await Promise.all([one, two]), ['read', 'read']);
  t.ok(turns > 0);
  t.equal(await read(body()), 'read', 'the room is given back');
});

t.test('data arrive whole, long or short, with escapes or without', async (t) => {
  const node = await memoryNode(t, { privateData: true });
  const [owner] = node.accounts;
  const { text: sender } = owner;
  const policy = { policyName: 'p', description: '', recipients: [sender], owners: [sender] };
  const { id } = await node.send(owner, { type: 112, ...policy });
  await node.clock.advance(60_000);
  await node.produceBlock();
  const headers = { 'X-API-Key': node.privacyApiKey };
  for (const bytes of [5, 5 * KIB, 3 * MIB]) {
    for (const write of [String, escaped]) {
      const base64 = base64Of(bytes + (write === escaped ? 1 : 0));
      const hash = createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex');
      const fields = { ...around, sender, policyId: base58.encode(id), hash };
      const body = bodyWith(write(base64), fields);
      const sent = await node.post('/privacy/sendData?broadcast=false', body, headers);
      t.equal(sent.status, 200, `${bytes} bytes: ${sent.text.slice(0, 200)}`);
      const read = await node.get(`/privacy/getData/${hash}`, headers);
      t.ok(read.text === `"${base64}"`, `${bytes} bytes come back`);
    }
  }
});
