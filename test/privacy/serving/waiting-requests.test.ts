/**
 * Requests for confidential data that wait while others are answered. Who may have the data is
 * judged again when the answer begins.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { boundHash, isMember, RECIPIENT } from '../../../src/ledger/policies.ts';
import type { ItemId } from '../../../src/privacy/protocol/item-id.ts';
import {
  DATA,
  encodeRequest,
  NO_DATA,
  signedByAsker,
} from '../../../src/privacy/protocol/privacy-messages.ts';
import { BUSY_MS_MAX } from '../../../src/privacy/serving/serve-items.ts';
import { family } from '../../chain/chain-harness.ts';
import { seededRandom } from '../../crypto/random.ts';
import type { ClusterNode } from '../../network/cluster.ts';
import { type Maverick, maverick } from '../../network/maverick.ts';
import { dataOf, make, members, sha256 } from '../members.ts';

const random = seededRandom('a request that waits');

/** Resolves with what the first message is; the answer is open until `taken`. */
function ask(
  self: Maverick,
  holder: ClusterNode,
  item: ItemId,
  first: (message: string) => void,
  taken: Promise<void>,
): Promise<void> {
  const own = family.generateKeyPair(random);
  const about = { ...item, asker: self.address, replier: holder.address };
  const signature = self.sign(signedByAsker(about, own.publicKey));
  const asked = self.session(holder)!.converse(DATA, 100_000, async (stream) => {
    await stream.send(encodeRequest({ ...item, ephemeralKey: own.publicKey, signature }));
    const message = await stream.receive();
    first(message?.[0] === NO_DATA[0] ? 'no data' : 'an offer');
    await taken;
    throw new Error('it leaves');
  });
  return asked.catch(() => {});
}

t.test('a member that the policy loses while its request waits', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['slow', 'leaver'] });
  const a = await network.keep('a', { set: ['privacy.replier.parallelism=1'] });
  const slow = await maverick(t, network, 'slow');
  const leaver = await maverick(t, network, 'leaver');
  for (const one of [slow, leaver]) one.pester([a]);
  const hasSessions = () => slow.session(a) !== undefined && leaver.session(a) !== undefined;
  await network.until('sessions', hasSessions);
  const policyId = await network.policy([a, slow, leaver], [a]);
  const bytes = randomBytes(4 * 1024 * 1024);
  const item = { policyId, hash: sha256(bytes) };
  await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.seconds(5);
  const heard: string[] = [];
  const open: (() => void)[] = [];
  const held = () => new Promise<void>((resolve) => void open.push(resolve));
  const before = ask(leaver, a, item, (message) => heard.push(message), Promise.resolve());
  await network.until('an answer', () => heard.length === 1);
  await before;
  const slowly = ask(slow, a, item, (message) => heard.push(message), held());
  await network.until('an answer that is not taken', () => heard.length === 2);
  const waiting = ask(leaver, a, item, (message) => heard.push(message), Promise.resolve());
  await network.seconds(1);
  await network.change(a, policyId, 'remove', [leaver], [a]);
  t.strictSame(heard, ['an offer', 'an offer'], 'the request waits for the other answer');
  for (const leave of open) leave();
  await network.until('an answer', () => heard.length === 3);
  await Promise.all([slowly, waiting]);
  t.equal(heard[2], 'no data', 'who is no member any more gets nothing');
  t.ok(leaver.session(a), 'and has done nothing wrong');
});

t.test('a holder with others to answer says soon that it has nothing now', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['slow', 'other'] });
  const a = await network.keep('a', { set: ['privacy.replier.parallelism=1'] });
  const slow = await maverick(t, network, 'slow');
  const other = await maverick(t, network, 'other');
  for (const one of [slow, other]) one.pester([a]);
  const hasSessions = () => slow.session(a) !== undefined && other.session(a) !== undefined;
  await network.until('sessions', hasSessions);
  const policyId = await network.policy([a, slow, other], [a]);
  const bytes = randomBytes(4 * 1024 * 1024);
  await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.seconds(5);
  const heard: string[] = [];
  let leave = (): void => {};
  const taken = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const item = { policyId, hash: sha256(bytes) };
  const slowly = ask(slow, a, item, (message) => heard.push(message), taken);
  await network.until('an answer that is not taken', () => heard.length === 1);
  const waiting = ask(other, a, item, (message) => heard.push(message), Promise.resolve());
  await network.seconds(BUSY_MS_MAX / 1000 + 1);
  t.strictSame(heard, ['an offer', 'no data']);
  leave();
  await Promise.all([slowly, waiting]);
});

t.test('a member that knows of its membership first is waited for', async (t) => {
  const network = await members(t, { miners: ['c'], others: ['a', 'b'] });
  const c = await network.start('c');
  const [a, b] = [await network.keep('a'), await network.keep('b')];
  const policyId = await network.policy([a], [a, b, c]);
  const bytes = randomBytes(100);
  const item = { policyId, hash: sha256(bytes) };
  await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.until('the hash', () =>
    [a, b].every(({ node }) => boundHash(node.blockchain.view, policyId, item.hash) !== undefined),
  );
  let isBehind = true;
  let answers = 0;
  network.faults = ({ protocol, from, to, message }) => {
    const isOfData = protocol.endsWith(DATA);
    if (isOfData && from === a.host && message.length > 0) answers++;
    return { lost: isBehind && to === a.host && !isOfData };
  };
  const fields = { type: 113, policyId: base58.encode(policyId), opType: 'add' };
  const change = { ...fields, recipients: [b.text], owners: [], fee: 50_000_000 };
  await c.node.pool.submit(make(a, network.clock.now(), change));
  const isJoined = () => isMember(b.node.blockchain.view, policyId, RECIPIENT, b.address);
  await network.until('the membership', isJoined);
  await network.seconds(1);
  t.equal(answers, 0, 'no answer yet');
  isBehind = false;
  await network.until('the data', () => b.log.of('privacy.fetched').length === 1);
  t.ok(answers > 1, 'in answer to the first request');
});

t.test('data that are found to be damaged when a member asks are fetched again', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['b', 'asker'] });
  const [a, b] = [await network.keep('a'), await network.keep('b')];
  const asker = await maverick(t, network, 'asker');
  asker.pester([a]);
  await network.until('a session', () => asker.session(a) !== undefined);
  const policyId = await network.policy([a, b, asker], [a, b]);
  const bytes = randomBytes(1000);
  const item = { policyId, hash: sha256(bytes) };
  await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.until('the data', () => b.log.of('privacy.fetched').length === 1);
  const holding = (): string[] =>
    readdirSync(a.folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(a.folder, name))
      .filter((path) => statSync(path).isFile() && readFileSync(path).includes(bytes));
  const [path] = holding() as [string];
  const content = readFileSync(path);
  content[content.indexOf(bytes)]! ^= 1;
  writeFileSync(path, content);
  const heard: string[] = [];
  const asked = ask(asker, a, item, (message) => heard.push(message), Promise.resolve());
  await network.until('an answer', () => heard.length === 1);
  await asked;
  t.strictSame(heard, ['no data']);
  await network.until('the data again', () => a.log.of('privacy.fetched').length === 1);
  t.equal(holding().length, 1);
});

t.test('a member that asks for what is not on the chain, or not here', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['b'] });
  const a = await network.keep('a');
  const b = await maverick(t, network, 'b');
  b.pester([a]);
  await network.until('a session', () => b.session(a) !== undefined);
  const policyId = await network.policy([a, b], [a]);
  /** How long the answer that there are no data took. */
  async function nothing(hash: Uint8Array): Promise<number> {
    const began = network.clock.monotonic();
    const own = family.generateKeyPair(random);
    const about = { policyId, hash, asker: b.address, replier: a.address };
    const signature = b.sign(signedByAsker(about, own.publicKey));
    let answer: Uint8Array | undefined;
    const asked = b.session(a)!.converse(DATA, 100_000, async (stream) => {
      await stream.send(encodeRequest({ policyId, hash, ephemeralKey: own.publicKey, signature }));
      await stream.end();
      answer = await stream.receive();
    });
    await network.until('an answer', () => answer !== undefined);
    await asked;
    t.strictSame(answer, NO_DATA);
    return network.clock.monotonic() - began;
  }
  const ms = await nothing(random.bytes(32));
  t.ok(ms >= 2_000 && ms < 5_000, `a block with the hash is waited for, ${ms} ms`);
  const hash = random.bytes(32);
  const fields = { type: 114, policyId: base58.encode(policyId), dataHash: base58.encode(hash) };
  await network.confirm(make(b, network.clock.now(), { ...fields, fee: 5_000_000 }), [a]);
  t.ok((await nothing(hash)) < 2_000, 'it is known, but nobody has sent the data');
  t.ok(b.session(a), 'to ask is no offence');
});
