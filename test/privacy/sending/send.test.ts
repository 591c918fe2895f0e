/** The handling of data that a client sends to a node (privacy.md#sending), on a whole node. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { type ApiError, apiError } from '../../../src/base/errors.ts';
import type { DataToSend } from '../../../src/privacy/sending/data-to-send.ts';
import { account } from '../../chain/chain-harness.ts';
import { ROUND_MS, wholeNode } from '../../node/in-process.ts';
import { dataOf, held, type Keeper, type Members, members, sha256 } from '../members.ts';

const LIMIT_BYTES = 20 * 1024 * 1024;

interface Scene {
  readonly network: Members;
  readonly node: Keeper;
  readonly policyId: Uint8Array;
}

async function scene(t: Test): Promise<Scene> {
  const network = await members(t, { miners: ['a'], others: ['b'] });
  const node = await network.keep('a');
  return { network, node, policyId: await network.policy([node], [node]) };
}

const privacyOf = ({ node }: Keeper) => node.services.privacy!;

const refusal = (node: Keeper, request: DataToSend): Promise<[number, string] | undefined> =>
  privacyOf(node)
    .send(request, true)
    .then(
      () => undefined,
      ({ code, message }: ApiError) => [Number(code), message] as [number, string],
    );

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

t.test('scenario 89: what is refused, in which order, and that nothing is kept', async (t) => {
  const { network, node, policyId } = await scene(t);
  const bytes = randomBytes(1000);
  const other = account('somebody else');
  const long = 'x'.repeat(32_769);
  const honest = dataOf(node, policyId, bytes);
  const wrongHash = base58.encode(sha256(randomBytes(9)));
  // Each has the faults of all below it as well, so the order shows.
  const faults: readonly (readonly [Partial<DataToSend>, number, RegExp])[] = [
    [{ atomicBadge: {} }, 199, /'atomicBadge' field is not allowed .* version '1'/],
    [{ feeAssetId: wrongHash }, 199, /'feeAssetId' field is not allowed/],
    [{ info: { ...honest.info, filename: long } }, 199, /File name is too long '32769', maximum/],
    [
      { data: Buffer.alloc(LIMIT_BYTES + 1).toString('base64') },
      607,
      /too big, actual size '20971521' bytes, max size '20971520'/,
    ],
    [{ hash: '0OIl' }, 199, /Failed to decode policy data hash: '0OIl'/],
    [{ policyId: '0OIl' }, 199, /Failed to decode policyId: '0OIl'/],
    [{ sender: 'nobody' }, 102, /invalid address/],
    [{ policyId: wrongHash, hash: wrongHash }, 612, /policy ID does not exist/],
    [{ hash: wrongHash }, 199, /Invalid data hash\. Actual '\w+', expected '\w+'/],
    [{ fee: 1 }, 112, /does not exceed minimal value/],
  ];
  for (let i = 0; i < faults.length; i++) {
    const [, code, text] = faults[i]!;
    const below = faults
      .slice(i)
      .reverse()
      .map(([fault]) => fault);
    const request = Object.assign({}, honest, ...below) as DataToSend;
    const [actual, message] = (await refusal(node, request)) ?? [0, 'accepted'];
    t.equal(actual, code, message);
    t.match(message, text);
  }
  const only: readonly (readonly [Partial<DataToSend>, number, RegExp])[] = [
    [{ hash: 'Cn8eVZg' }, 199, /Invalid policy data hash length/],
    [{ data: 'no Base64!!!' }, 199, /not Base64/],
    [{ sender: other.text }, 199, /is not the owner/],
    [{ password: 'a guess' }, 115, /no private key/],
    [{ info: { ...honest.info, author: long } }, 199, /Author name is too long/],
    [{ info: { ...honest.info, comment: long } }, 199, /Comment is too long/],
  ];
  for (const [fault, code, text] of only) {
    const [actual, message] = (await refusal(node, { ...honest, ...fault })) ?? [0, 'accepted'];
    t.equal(actual, code, message);
    t.match(message, text);
  }
  t.strictSame(filesIn(node.folder), [], 'nothing is stored');
  t.equal(node.node.pool.size(), 0);

  t.equal((await privacyOf(node).send(honest, true)).type, 114);
  await network.until('the block', () => node.node.pool.size() === 0);
  const again = await refusal(node, honest);
  t.strictSame(again, [615, `The specified dataset with hash ${honest.hash} was added earlier`]);
  t.strictSame(await refusal(node, { ...honest, fee: 1 }), again, 'before the fee is looked at');
});

t.test('a sender who is no recipient', async (t) => {
  const { network, node } = await scene(t);
  const b = await network.keep('b');
  const policyId = await network.policy([network.member('b')], [b, node]);
  const request = dataOf(node, policyId, randomBytes(10));
  const why = `State check failed. Reason: Sender '${node.text}' is not in policy recipients`;
  t.strictSame(await refusal(node, request), [112, why]);
  const other = { ...request, hash: base58.encode(sha256(randomBytes(9))) };
  t.strictSame(await refusal(node, other), [112, why], 'before the hash is compared');
  t.strictSame(filesIn(node.folder), []);
});

t.test('more text at once than a node takes', async (t) => {
  const { node, policyId } = await scene(t);
  const data = 'A'.repeat(70 * 1024 * 1024);
  const request = { ...dataOf(node, policyId, randomBytes(10)), data };
  const codes = (await Promise.all([1, 2].map(() => refusal(node, request)))).map(
    (refused) => refused?.[0],
  );
  t.strictSame(codes, [607, apiError('Overloaded').code]);
  t.equal((await refusal(node, request))?.[0], 607, 'when the other has been answered');
});

t.test('the same request again and again, at once and later', async (t) => {
  const { network, node, policyId } = await scene(t);
  const bytes = randomBytes(100_000);
  const request = dataOf(node, policyId, bytes);
  await privacyOf(node).send(request, false);
  t.equal(node.node.pool.size(), 0, 'broadcast=false: stored and signed, no more');
  t.ok(await held(node, policyId, bytes));
  const txs = await Promise.all([1, 2, 3].map(() => privacyOf(node).send(request, true)));
  t.equal(new Set(txs.map(({ id }) => base58.encode(id))).size, 1, 'one transaction for all');
  t.equal(node.node.pool.size(), 1);
  await network.until('the block', () => node.node.pool.size() === 0);
  t.ok((await held(node, policyId, bytes))!.equals(bytes));
});

t.test('the same request again after a restart', async (t) => {
  let whole = await wholeNode(t, { privateData: true, set: ['miner.enable=no'] });
  const [owner] = whole.accounts;
  const { id } = await whole.send(owner, {
    type: 112,
    policyName: 'contracts',
    description: '',
    recipients: [owner.text],
    owners: [owner.text],
  });
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock();
  const send = (data: string, broadcast: boolean) => {
    const request = dataOf(owner, id, Buffer.from(data));
    return whole.node.services.privacy!.send(request, broadcast);
  };
  const first = await send('one', true);
  const other = await whole.node.pool.submit(await send('two', false));
  whole = await whole.restart();
  await whole.clock.advance(1000);
  t.strictSame((await send('one', true)).id, first.id, 'it still waits');
  t.strictSame((await send('two', true)).id, other.id, 'and one that was broadcast later');
  t.equal(whole.node.pool.size(), 2);
});

t.test('the same request again after the data were lost', async (t) => {
  const { node, policyId } = await scene(t);
  const bytes = randomBytes(100);
  const { id } = await privacyOf(node).send(dataOf(node, policyId, bytes), true);
  for (const file of filesIn(node.folder)) rmSync(file);
  t.strictSame((await privacyOf(node).send(dataOf(node, policyId, bytes), true)).id, id);
  t.ok((await held(node, policyId, bytes))?.equals(bytes));
});

t.test('scenario 96: a file that is damaged is missing, and comes again', async (t) => {
  const network = await members(t, { miners: ['a', 'b'] });
  const [a, b] = [await network.keep('a'), await network.keep('b')];
  const policyId = await network.policy([a, b], [a, b]);
  const bytes = randomBytes(100_000);
  await privacyOf(a).send(dataOf(a, policyId, bytes), true);
  await network.until('the data', async () => (await held(b, policyId, bytes)) !== undefined);
  const [file] = filesIn(b.folder).filter((name) => statSync(name).size >= bytes.length);
  const damaged = readFileSync(file!);
  damaged[damaged.length - 1]! ^= 1;
  writeFileSync(file!, damaged);
  await t.rejects(privacyOf(b).data(sha256(bytes), policyId), { code: 617 });
  await network.until('it again', async () => (await held(b, policyId, bytes)) !== undefined);
  t.ok((await held(b, policyId, bytes))!.equals(bytes));
  t.equal(b.log.of('privacy.damaged').length, 1);
});

t.test('data of a policy that does not exist', async (t) => {
  const { node } = await scene(t);
  const hash = sha256(randomBytes(9));
  for (const policyId of [new Uint8Array(32), new Uint8Array(31)]) {
    await t.rejects(privacyOf(node).data(hash, policyId), { code: 612 });
    await t.rejects(privacyOf(node).info(hash, policyId), { code: 612 });
  }
  await t.rejects(privacyOf(node).data(hash, undefined), { code: 617 });
});

t.test('scenario 96: a storage that refuses makes no transaction', async (t) => {
  const { network, node } = await scene(t);
  const policyId = await network.policy([node], [node]);
  const bytes = randomBytes(100_000);
  const request = dataOf(node, policyId, bytes);
  const folder = join(node.folder, base58.encode(policyId));
  // A file stands where the folder of the policy belongs.
  writeFileSync(folder, '');
  const [code, message] = (await refusal(node, request))!;
  t.strictSame([code, message], [609, 'DB error']);
  t.equal(node.node.pool.size(), 0);
  t.notMatch(message, node.folder, 'where it is stored is nobody’s business');
  t.match(node.log.of('privacy.storage-failed'), [{ why: String }]);
});

t.test('a storage that cannot be read when data are asked for again', async (t) => {
  const { network, node, policyId } = await scene(t);
  await privacyOf(node).send(dataOf(node, policyId, randomBytes(1000)), true);
  await network.until('the block', () => node.node.pool.size() === 0);
  t.strictSame(await privacyOf(node).sync(policyId), { restarted: 0 });
  const folder = join(node.folder, base58.encode(policyId));
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  await t.rejects(privacyOf(node).sync(policyId), { code: apiError('ForceSyncFailed').code });
});
