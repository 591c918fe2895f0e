// A type 114 that somebody else broadcasts at a node (decision 30, H-22).
import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { ROUND_MS, wholeNode } from '../node/in-process.ts';
import { restOf } from '../system/e2e/rest.ts';

/** A node whose owner is the only recipient of a policy, and how often its storage was asked. */
async function scene(t: Test) {
  const asked = { times: 0 };
  const whole = await wholeNode(t, {
    http: httpListener,
    privateData: true,
    set: ['miner.enable=no'],
    around: (ports) => ({
      ...ports,
      privateStore: {
        ...ports.privateStore!,
        info(policyId, hash) {
          asked.times++;
          return ports.privateStore!.info(policyId, hash);
        },
      },
    }),
  });
  const [owner, stranger] = whole.accounts;
  const { id } = await whole.send(owner, {
    type: 112,
    policyName: 'contracts',
    description: '',
    recipients: [owner.text],
    owners: [owner.text],
  });
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock();
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.privacyApiKey);
  const policyId = base58.encode(id);
  async function keep(data: Buffer): Promise<string> {
    const hash = hashOf(data);
    const info = { filename: 'f', size: data.length, timestamp: 1, author: '', comment: '' };
    const body = { sender: owner.text, policyId, info, data: data.toString('base64'), hash };
    t.match(await rest.post('/privacy/sendData?broadcast=false', body), { status: 200 });
    return hash;
  }
  const broadcast = async (tx: Tx, changes: object = {}) => {
    const body = { ...txToJson(tx, whole.scheme), ...changes };
    const { status, body: answer } = await rest.post('/transactions/broadcast', body);
    const { error, message } = answer as { error?: number; message?: string };
    return { status, error, message: message?.replaceAll(base58.encode(tx.id), '…') };
  };
  return { whole, owner, stranger, policyId, asked, keep, broadcast };
}

const hashOf = (data: Buffer): string => base58.encode(createHash('sha256').update(data).digest());

t.test('nobody but a recipient learns whether the node has the data', async (t) => {
  const { whole, owner, stranger, policyId, asked, keep, broadcast } = await scene(t);
  const kept = await keep(Buffer.from('a guess that is right'));
  const lacking = hashOf(Buffer.from('a guess that is wrong'));
  asked.times = 0;
  const [guess, wrong] = [kept, lacking].map((dataHash) => ({ type: 114, policyId, dataHash }));
  const forged = { proofs: [base58.encode(new Uint8Array(64).fill(7))] };
  const cases = [
    ['a stranger', stranger, {}, /is not in policy recipients/],
    ['one without the key of the recipient', owner, forged, /proof doesn't validate/],
    ['nor without a signature', owner, { proofs: [] }, /exactly 1 proof/],
  ] as const;
  for (const [who, sender, changes, why] of cases) {
    const answer = await broadcast(whole.make(sender, guess!), changes);
    t.match(answer, { status: 400, error: 112, message: why }, who);
    t.strictSame(await broadcast(whole.make(sender, wrong!), changes), answer, who);
  }
  t.equal(asked.times, 0, 'and makes the node read its storage');

  const recipient = await broadcast(whole.make(owner, wrong!));
  t.match(recipient, { status: 400, error: 199, message: /not allowed to be broadcasted/ });
  t.match(await broadcast(whole.make(owner, guess!)), { status: 200 });
});

t.test('a copy of what waits in the pool tells nobody whether the node has the data', async (t) => {
  const { whole, owner, policyId, asked, keep, broadcast } = await scene(t);
  const kept = await keep(Buffer.from('of an item that this node has'));
  const lacking = hashOf(Buffer.from('of an item that another node has'));
  const waiting = [kept, lacking].map((dataHash) =>
    whole.make(owner, { type: 114, policyId, dataHash }),
  );
  // As other nodes pass them on.
  for (const tx of waiting) await whole.node.pool.submit(tx);
  asked.times = 0;
  for (const tx of waiting) t.match(await broadcast(tx), { status: 200 });
  t.equal(asked.times, 0, 'and the storage is not read');
});
