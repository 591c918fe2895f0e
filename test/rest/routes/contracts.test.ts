// Contracts for clients: their past, outcomes of their transactions, and the refusals of
// transactions about contracts that ended or changed.
import t from 'tap';
import { httpListener } from '../../../src/adapters/http/listener.ts';
import { base58 } from '../../../src/base/base58.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { ROUND_MS, type TxFields, type WholeNode, wholeNode } from '../../node/in-process.ts';
import type { Scope } from '../../system/e2e/process.ts';
import { type Rest, restOf } from '../../system/e2e/rest.ts';

const IMAGE = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
const CREATION = { type: 103, ...IMAGE, contractName: 'sum', params: [] };

interface Served extends Omit<WholeNode, 'mine'> {
  readonly rest: Rest;
  /** A block with the results of these transactions; their ids. */
  execute(...txs: readonly TxFields[]): Promise<readonly string[]>;
  /** The same for transactions that need no execution. */
  mine(...txs: readonly Tx[]): Promise<void>;
}

async function served(t: Scope): Promise<Served> {
  const whole = await wholeNode(t, { http: httpListener, set: ['miner.enable=no'] });
  const [owner] = whole.accounts;
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey);
  async function mine(...txs: readonly Tx[]): Promise<void> {
    await whole.clock.advance(ROUND_MS);
    await whole.produceBlock(...txs);
  }
  return {
    ...whole,
    rest,
    mine,
    async execute(...list) {
      const txs = list.map((fields) => whole.make(owner, fields));
      const shown = txs.map((tx) => txToJson(tx, whole.scheme));
      await mine(
        ...shown.map((tx) => {
          const results =
            tx['type'] === 107 ? [] : [{ key: 'last', type: 'string', value: tx['id'] }];
          return whole.make(owner, { type: 105, tx, results, fee: 0 });
        }),
      );
      return txs.map(({ id }) => base58.encode(id));
    },
  };
}

const inner = (list: unknown): unknown[] =>
  (list as { tx?: { id: string }; id: string }[]).map((one) => one.tx?.id ?? one.id);

t.test('versions and calls, newest first', async (t) => {
  const { rest, execute, send, accounts, mine, node } = await served(t);
  const [creation, other] = await execute(CREATION, { ...CREATION, contractName: 'other' });
  const call = (i: number): TxFields => ({
    type: 104,
    contractId: creation,
    params: [{ key: 'number', type: 'integer', value: i }],
  });
  const first = await execute(call(1), call(2), { ...call(3), contractId: other });
  const second = await execute(call(4));
  const [update] = await execute({ type: 107, contractId: creation, ...IMAGE });
  const end = await send(accounts[0], { type: 106, contractId: creation });
  await mine();

  const versions = await rest.get(`/contracts/versions/${creation}`);
  t.strictSame(inner(versions.body), [base58.encode(end.id), update, creation]);
  const calls = await rest.get(`/contracts/calls/${creation}`);
  t.strictSame(inner(calls.body), [second[0], first[1], first[0]]);
  t.match(calls.body, [{ type: 105, height: 4 }, { height: 3 }, { height: 3 }]);
  const [newest, next] = calls.body as { id: string }[];
  const page = (query: string) => rest.get(`/contracts/calls/${creation}?${query}`);
  t.strictSame(inner((await page('limit=2')).body), [second[0], first[1]]);
  t.strictSame(inner((await page(`after=${newest!.id}`)).body), [first[1], first[0]]);
  t.strictSame(inner((await page(`after=${next!.id}&limit=1`)).body), [first[0]]);
  t.match(await page(`after=${creation}x`), { status: 404, body: { error: 601 } });
  t.match(await rest.get(`/contracts/calls/${end.id}`), { status: 404, body: { error: 600 } });
  t.strictSame(inner((await rest.get(`/contracts/calls/${other}`)).body), [first[2]]);

  await node.blockchain.rollback(3);
  t.strictSame(inner((await rest.get(`/contracts/calls/${creation}`)).body), [first[1], first[0]]);
  t.strictSame(inner((await rest.get(`/contracts/versions/${creation}`)).body), [creation]);
});

t.test('outcomes by transaction, and failures by contract', async (t) => {
  const { rest, execute, clock, node, send, accounts } = await served(t);
  const [contractId] = await execute(CREATION);
  const call = await send(accounts[0], { type: 104, contractId, params: [] });
  const id = base58.encode(call.id);
  t.match(await rest.get(`/contracts/status/${id}`), {
    status: 404,
    body: {
      error: 605,
      message: `Contract execution result is not found for transaction with txId = '${id}'`,
    },
  });
  t.match(await rest.get('/contracts/status/0OIl'), {
    status: 400,
    body: { error: 199, message: "Failed to decode base58 transaction id value '0OIl'" },
  });
  const failure = { txId: call.id, status: 'Failure', code: 1, message: 'timeout' } as const;
  node.statuses.report(failure);
  await clock.advance(10);
  node.statuses.report({ ...failure, status: 'Error', code: 3, message: 'no' });
  await clock.advance(10);
  const { body } = await rest.get(`/contracts/status/${id}`);
  const { text: sender, publicKey } = accounts[0];
  t.match(body, [
    { status: 'Failure', code: '1', message: 'timeout' },
    {
      ...{ sender, senderPublicKey: base58.encode(publicKey), txId: id },
      ...{ status: 'Error', code: '3', message: 'no', timestamp: Number, signature: String },
    },
  ]);
  const failures = await rest.get(`/contracts/failures/${contractId}`);
  t.match(failures.body, [{ status: 'Error' }, { status: 'Failure' }], 'the newest first');
  t.strictSame((await rest.get(`/contracts/failures/${id}`)).body, []);
});

t.test('scenario 83: contracts that ended or changed, over REST', async (t) => {
  const { rest, execute, make, send, scheme, accounts, mine } = await served(t);
  const [owner, stranger] = accounts;
  const [contractId] = await execute(CREATION);
  const refusal = async (from: typeof owner, fields: TxFields) => {
    const tx = txToJson(make(from, fields), scheme);
    const { status, body } = await rest.post('/transactions/broadcast', tx);
    return { status, ...(body as { error: number; message: string }) };
  };
  await execute({ type: 107, contractId, ...IMAGE });
  const call = { type: 104, contractId, params: [] };
  const version = `Called version '1' of contract with id '${contractId}' doesn't match actual contract version '2'`;
  t.match(await refusal(owner, call), { status: 400, error: 112, message: version });
  const keys = [stranger, owner].map(({ publicKey }) => base58.encode(publicKey));
  t.match(await refusal(stranger, { type: 106, contractId }), {
    status: 400,
    message: `transaction sender '${keys[0]}' is not developer of contract '${contractId}'`,
  });
  await send(owner, {
    type: 102,
    target: stranger.text,
    opType: 'add',
    role: 'contract_developer',
  });
  await mine();
  t.match(await refusal(stranger, { type: 107, contractId, ...IMAGE }), {
    status: 400,
    message: `Contract update transaction sender '${keys[0]}' is not equal to contract creator '${keys[1]}'`,
  });
  await send(owner, { type: 106, contractId });
  await mine();
  t.match(await refusal(owner, { ...call, version: 2, contractVersion: 2 }), {
    status: 400,
    error: 602,
    message: `Contract '${contractId}' has been disabled. You cannot call disabled contract`,
  });
  t.match(await refusal(owner, { type: 106, contractId }), {
    status: 400,
    error: 603,
    message: `Contract '${contractId}' has been already disabled`,
  });
});
