/**
 * Confidential data among whole nodes (privacy.md#fetching): when they are fetched, and when the
 * fetch is repeated.
 */

import { randomBytes } from 'node:crypto';
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { findTransaction } from '../../src/chain/store/stored-blocks.ts';
import { DATA } from '../../src/privacy/protocol/privacy-messages.ts';
import { dataOf, held, members, sha256 } from './members.ts';

const HOUR_SECONDS = 3600;
const SILENT_ITEMS = 120;

t.test('what a member sends the others fetch, and nobody else', async (t) => {
  // It is told of them and need not wait until it may ask at random.
  const set = ['privacy.synchronizer.inventory-request-delay=1d'];
  const network = await members(t, { miners: ['a'], others: ['b', 'c'], set });
  const a = await network.keep('a');
  const b = await network.keep('b');
  const c = await network.keep('c');
  const policyId = await network.policy([a, b], [a, b, c]);
  const bytes = randomBytes(300_000);
  const tx = await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  t.equal(tx.type, 114);
  await network.until('the data at b', async () => (await held(b, policyId, bytes)) !== undefined);
  t.ok((await held(b, policyId, bytes))!.equals(bytes), 'byte by byte');
  t.equal(await held(c, policyId, bytes), undefined);
  t.match(await b.node.services.privacy!.info(sha256(bytes)), {
    filename: 'a contract.pdf',
    size: '300000',
    timestamp: 1_000_000_000n,
  });
  for (const { log } of [a, b, c]) {
    const lines = JSON.stringify([log.of('peer.offence'), log.of('privacy.fetched')]);
    t.notMatch(lines, /offence|confidential/, 'nobody is blamed, nothing is told');
  }
});

t.test('scenario 93: nobody has it for 24 attempts, then somebody', async (t) => {
  const set = [
    'privacy.synchronizer.init-retry-delay=1s',
    // A peer may fail once more while it connects again.
    'privacy.synchronizer.failed-peers-cache-expire-timeout=30s',
    // Two hours pass, and few blocks.
    'blockchain.consensus.round-duration=30s',
  ];
  const network = await members(t, { miners: ['a', 'b'], set });
  const [a, b] = [await network.keep('a'), await network.keep('b')];
  const policyId = await network.policy([a, b], [a, b]);
  const [first, second] = [randomBytes(1000), randomBytes(1000)];
  // The chain gets through, the data do not.
  let isBlocked = true;
  network.faults = ({ protocol }) => ({ lost: isBlocked && protocol.endsWith(DATA) });
  for (const bytes of [first, second]) {
    const tx = await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
    await network.until(
      'the block',
      () => findTransaction(b.node.blockchain.view, tx.id) !== undefined,
    );
  }
  await network.seconds(2 * HOUR_SECONDS);
  await network.until('both lost', () => b.log.of('privacy.lost').length === 2);
  await t.rejects(b.node.services.privacy!.data(sha256(first)), {
    code: 617,
    message: `The requested dataset ${base58.encode(sha256(first))} is missing in privacy storage`,
  });
  isBlocked = false;
  // The request of the first question may have been lost just before.
  const ask = () => b.node.services.privacy!.data(sha256(first)).catch(() => undefined);
  await network.until('who asks for it gets it', async () => {
    if ((await held(b, policyId, first)) !== undefined) return true;
    await ask();
    return false;
  });
  // Lost items have their turn every ten minutes, which may have been just now.
  const missing = (await held(b, policyId, second)) === undefined ? 1 : 0;
  const restarted = await b.node.services.privacy!.sync(policyId);
  t.strictSame(restarted, { restarted: missing }, 'forceSync counts what is missing');
  await network.until('the other', async () => (await held(b, policyId, second)) !== undefined);
});

t.test('lost data are tried again by themselves', async (t) => {
  const set = ['privacy.synchronizer.max-attempt-count=2'];
  const network = await members(t, { miners: ['a', 'b'], set });
  const [a, b] = [await network.keep('a'), await network.keep('b')];
  const policyId = await network.policy([a, b], [a, b]);
  const bytes = randomBytes(1000);
  let isBlocked = true;
  network.faults = ({ protocol }) => ({ lost: isBlocked && protocol.endsWith(DATA) });
  await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.until('it is lost', async () => {
    await network.seconds(30);
    return b.log.of('privacy.lost').length === 1;
  });
  isBlocked = false;
  const again = await b.restart();
  await network.until('after a restart too', async () => {
    await network.seconds(10);
    return (await held({ ...again }, policyId, bytes)) !== undefined;
  });
});

t.test('scenario 94: forceSync for somebody who is no member', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['b'] });
  const [a, b] = [await network.keep('a'), await network.keep('b')];
  const policyId = await network.policy([a], [a, b]);
  t.strictSame(await b.node.services.privacy!.sync(policyId), {
    problem: `Address '${b.text}' not in policy 'contracts'`,
    restarted: 0,
  });
  await t.rejects(b.node.services.privacy!.sync(randomBytes(32)), { code: 612 });
  t.strictSame(await b.node.services.privacy!.sync(), { restarted: 0 }, 'no policy of its own');
});

t.test('scenario 46: a 114 that falls out of the chain and comes back', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['b'] });
  const [a, b] = [await network.keep('a'), await network.keep('b')];
  const policyId = await network.policy([a, b], [a, b]);
  const bytes = randomBytes(1000);
  const { privacy } = a.node.services;
  const tx = await privacy!.send(dataOf(a, policyId, bytes), true);
  await network.until('the data', async () => (await held(b, policyId, bytes)) !== undefined);
  const { height } = findTransaction(b.node.blockchain.view, tx.id)!;

  network.part([a.name], [b.name]);
  // It waits in the pool at once, and the miner may take it in the same round.
  const fallen = [
    ...(await a.node.blockchain.rollback(height - 1)),
    ...(await b.node.blockchain.rollback(height - 1)),
  ];
  t.same(
    fallen.map(({ id }) => id),
    [tx.id, tx.id],
  );
  t.ok(await held(b, policyId, bytes), 'data stay');
  network.heal();
  await network.until('it is mined again', () =>
    [a, b].every(({ node }) => findTransaction(node.blockchain.view, tx.id) !== undefined),
  );
  await network.seconds(30);
  t.equal(b.log.of('privacy.fetched').length, 1, 'it was fetched once');
});

t.test('a node that serves more at a time asks for no more than others serve', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['b'] });
  const a = await network.keep('a', { set: ['privacy.replier.parallelism=1'] });
  const b = await network.keep('b', { set: ['privacy.replier.parallelism=200'] });
  const policyId = await network.policy([a], [a, b]);
  const items = Array.from({ length: 40 }, () => randomBytes(100_000));
  for (const bytes of items) await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.rounds(6);
  await network.change(a, policyId, 'add', [b], [a, b]);
  const start = network.clock.now();
  await network.until('all items', () => b.log.of('privacy.fetched').length === items.length);
  // Whoever has failed once is left alone for ten minutes.
  const seconds = (network.clock.now() - start) / 1000;
  t.ok(seconds < 300, `after ${seconds} s`);
  t.strictSame([...a.log.of('peer.offence'), ...b.log.of('peer.offence')], []);
});

for (const places of [20, 4]) {
  t.test(`a member that never answers leaves some of ${places} places`, async (t) => {
    const set = [
      `privacy.synchronizer.crawling-parallelism=${places}`,
      'privacy.synchronizer.request-timeout=1m',
      'privacy.synchronizer.inventory-request-delay=1s',
    ];
    const network = await members(t, { miners: ['a'], others: ['b', 'c'], set });
    const [a, b, c] = [await network.keep('a'), await network.keep('b'), await network.keep('c')];
    const ofSilent = await network.policy([b, c], [b, c]);
    const ofOther = await network.policy([a, b], [a, b]);
    let isSilent = true;
    network.faults = ({ protocol, from }) => ({
      lost: isSilent && protocol.endsWith(DATA) && from === c.host,
    });
    const items = Array.from({ length: SILENT_ITEMS }, () => randomBytes(100));
    for (const bytes of items)
      await c.node.services.privacy!.send(dataOf(c, ofSilent, bytes), true);
    await network.rounds(3);
    const bytes = randomBytes(100);
    await a.node.services.privacy!.send(dataOf(a, ofOther, bytes), true);
    const start = network.clock.now();
    await network.until('the data', async () => (await held(b, ofOther, bytes)) !== undefined);
    const waited = (network.clock.now() - start) / 1000;
    t.ok(waited < 60, `after ${waited} s, not after all others`);
    isSilent = false;
    await network.until('all', () => b.log.of('privacy.fetched').length === items.length + 1);
    t.strictSame(b.log.of('peer.offence'), []);
    const took = (network.clock.now() - start) / 1000 - waited;
    t.ok(took < 400, `the rest ${took} s after it speaks again`);
  });
}

t.test('items that wait for a stream are no failures of theirs', async (t) => {
  const set = [
    'privacy.synchronizer.request-timeout=10s',
    'privacy.synchronizer.max-attempt-count=1',
  ];
  const network = await members(t, { miners: ['a'], others: ['b'], set });
  const a = await network.keep('a');
  // It opens one stream at a time.
  const b = await network.keep('b', { set: ['privacy.replier.parallelism=1'] });
  const policyId = await network.policy([a], [a, b]);
  const items = Array.from({ length: 6 }, () => randomBytes(100));
  for (const bytes of items) await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.rounds(3);
  network.faults = ({ protocol, from }) => ({
    delayMs: protocol.endsWith(DATA) && from === a.host ? 2_000 : 0,
  });
  await network.change(a, policyId, 'add', [b], [a, b]);
  const ended = () => [b.log.of('privacy.fetched').length, b.log.of('privacy.lost').length];
  await network.until('all items', () => ended()[0]! + ended()[1]! === items.length);
  t.strictSame(ended(), [items.length, 0]);
});

t.test('members without an item are not asked again and again for it', async (t) => {
  const set = ['privacy.synchronizer.request-timeout=1m'];
  const network = await members(t, { miners: ['a'], others: ['b', 'c'], set });
  const [a, b, c] = [await network.keep('a'), await network.keep('b'), await network.keep('c')];
  const policyId = await network.policy([a, b, c], [a, b, c]);
  let asked = 0;
  network.faults = ({ protocol, from, message }) => {
    const isOfData = protocol.endsWith(DATA);
    if (isOfData && from === b.host && message.length > 0) asked++;
    return { lost: isOfData && from === c.host };
  };
  for (let i = 0; i < SILENT_ITEMS; i++) {
    await c.node.services.privacy!.send(dataOf(c, policyId, randomBytes(100)), true);
  }
  await network.rounds(3);
  asked = 0;
  await network.seconds(60);
  t.ok(asked < 5 * SILENT_ITEMS, `${asked} requests in a minute`);
});
