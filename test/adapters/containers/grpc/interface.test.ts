// The gRPC interface to containers, judged by the published stubs of its clients.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  ContractKeysRequest,
  type ContractKeysResponse,
} from '@wavesenterprise/js-contract-grpc-client/contract/contract_contract_service.js';
import { PkiVerifyRequest } from '@wavesenterprise/js-contract-grpc-client/contract/contract_pki_service.js';
import { DataEntry as EntryMessage } from '@wavesenterprise/js-contract-grpc-client/data_entry.js';
import t from 'tap';
import { apiError } from '../../../../src/base/errors.ts';
import { contractLimits as limits } from '../../../../src/base/limits/contract-limits.ts';
import type { DataEntry } from '../../../../src/base/ports/containers.ts';
import { address, execution, id, image, readsOf } from './executions.ts';
import { connected, connectionId, opened, patient, translated } from './opened.ts';
import { addressOf, ask, refusal, sdkClient } from './sdk-client.ts';

const UNAUTHENTICATED = 16;
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const UNIMPLEMENTED = 12;

t.test('a container learns where to connect', async (t) => {
  const { open, folder } = await opened(t);
  const { session } = await open();
  const { env, mounts } = session.setup;
  t.match(env, {
    CONNECTION_ID: connectionId,
    CONNECTION_TOKEN: /^[\w-]{43}$/,
    NODE: 'unix',
    NODE_PORT: '/run/node/grpc.sock',
  });
  const [mount] = mounts;
  t.equal(mount!.target, '/run/node');
  const source = mount!.source;
  t.ok(source.startsWith(`${folder}/`));
  t.equal(statSync(source).mode & 0o777, 0o755);
  t.equal(statSync(join(source, 'grpc.sock')).mode & 0o777, 0o666);
  await session.close();
  await session.ended;
  t.notOk(existsSync(source));
});

t.test('a data directory with a long path', async (t) => {
  const folder = join(t.testdir(), 'd'.repeat(150), 'sockets');
  const { open } = await opened(t, { listen: { kind: 'unix', folder } });
  const { session } = await open();
  const [mount] = session.setup.mounts;
  t.equal(statSync(join(mount!.source, 'grpc.sock')).mode & 0o777, 0o666);
  await session.close();
  t.notOk(existsSync(mount!.source));
});

t.test('a call arrives with every field', async (t) => {
  const { session, stream } = await connected(t);
  const call = execution({ feeAssetId: 'fee asset' });
  void session.run(call, patient).catch(() => {});
  const { transaction, authToken } = await stream.next();
  const { json: _json, data: _data, params, ...same } = call.transaction;
  t.match(transaction, {
    ...same,
    type: 104,
    fee: long(10000000n),
    timestamp: long(1700000000123n),
    proofs: Buffer.from(call.transaction.proofs),
    feeAssetId: { value: 'fee asset' },
    payments: [],
    createData: undefined,
    callData: { contractVersion: 1 },
  });
  t.strictSame(transaction!.params.map(received), params.map(plain));
  t.equal(authToken, call.token);
});

t.test('a creation arrives with its image', async (t) => {
  const { session, stream } = await connected(t);
  const data = { kind: 'create', ...image, contractName: 'Ëcho' } as const;
  void session.run(execution({ data }), patient).catch(() => {});
  const { transaction } = await stream.next();
  t.match(transaction, {
    type: 103,
    createData: { ...image, contractName: 'Ëcho' },
    callData: undefined,
    feeAssetId: undefined,
  });
});

t.test('results come back exactly', async (t) => {
  const { session, stream, client } = await connected(t);
  const call = execution();
  const outcome = session.run(call, patient);
  const { transaction, authToken } = await stream.next();
  const commit = client.contract.commitExecutionSuccess.bind(client.contract);
  const results = transaction!.params;
  await ask(commit, { txId: call.transaction.id, results, assetOperations: [] }, authToken);
  t.strictSame(await outcome, { kind: 'success', results: call.transaction.params });
});

t.test('what the state refuses ends no container', async (t) => {
  const { session, client, stream } = await connected(t);
  const read = client.contract.getContractKey.bind(client.contract);
  const call = execution(
    {},
    {
      ...readsOf([]),
      contractEntry() {
        throw apiError('InvalidAddress', 'of a user');
      },
    },
  );
  const outcome = session.run(call, patient);
  await stream.next();
  const asked = { contractId: call.transaction.contractId, key: 'a' };
  for (let i = 0; i <= limits.refusals.value; i++) {
    await refusal(ask(read, asked, call.token));
  }
  const commit = client.contract.commitExecutionSuccess.bind(client.contract);
  await ask(commit, { txId: call.transaction.id, results: [], assetOperations: [] }, call.token);
  t.match(await outcome, { kind: 'success' });
  await session.close();
});

t.test('a contract refuses a call', async (t) => {
  const { session, stream, client } = await connected(t);
  const fail = client.contract.commitExecutionError.bind(client.contract);
  for (const code of [0, 1, 3, -7]) {
    const call = execution();
    const outcome = session.run(call, patient);
    await stream.next();
    await ask(fail, { txId: call.transaction.id, message: 'nö', code }, call.token);
    t.strictSame(await outcome, { kind: 'error', code, message: 'nö' });
  }
});

t.test('one call after the other, on the first stream alone', async (t) => {
  const { session, stream, client, token } = await connected(t);
  const commit = client.contract.commitExecutionSuccess.bind(client.contract);
  const other = sdkClient(addressOf(session));
  t.teardown(other.close);
  const idle = other.connect(connectionId, token);
  const third = client.connect(connectionId, token);
  for (let calls = 0; calls < 20; calls++) {
    const call = execution();
    const outcome = session.run(call, patient);
    const { transaction, authToken } = await stream.next();
    t.equal(transaction!.id, call.transaction.id);
    if (calls === 10) third.cancel();
    await ask(commit, { txId: transaction!.id, results: [], assetOperations: [] }, authToken);
    t.strictSame(await outcome, { kind: 'success', results: [] });
  }
  t.equal(idle.received.length, 0);
  t.equal(third.received.length, 0);
});

t.test('several calls at once do not mix', async (t) => {
  const { session, stream, client } = await connected(t);
  const commit = client.contract.commitExecutionSuccess.bind(client.contract);
  const calls = Array.from({ length: 10 }, () => execution());
  const outcomes = calls.map((call) => session.run(call, patient));
  for (const { transaction } of calls.toReversed()) {
    const { token } = calls.find((call) => call.transaction.id === transaction.id)!;
    const results = [{ key: transaction.id, boolValue: true }] as never[];
    await ask(commit, { txId: transaction.id, results, assetOperations: [] }, token);
  }
  for (const [i, { transaction }] of calls.entries()) {
    t.match(await outcomes[i], { results: [{ key: transaction.id, value: true }] });
  }
  t.equal(stream.received.length, 10);
});

t.test('two contracts of one image read their own states', async (t) => {
  const { session, stream, client } = await connected(t);
  const { contract } = client;
  for (const contractId of [id(), id(), id()]) {
    const asked: string[] = [];
    const reads = readsOf([{ key: 'a', type: 'boolean', value: true }]);
    const call = execution(
      { contractId },
      {
        ...reads,
        contractEntries(of, query) {
          asked.push(of);
          return reads.contractEntries(of, query);
        },
        contractEntry(of, key) {
          asked.push(of);
          return reads.contractEntry(of, key);
        },
      },
    );
    const outcome = session.run(call, patient);
    const { transaction, authToken } = await stream.next();
    t.equal(transaction!.contractId, contractId);
    const all = ContractKeysRequest.fromPartial({});
    await ask(contract.getContractKeys.bind(contract), all, authToken);
    const one = { contractId: 'another', key: 'a' };
    await ask(contract.getContractKey.bind(contract), one, authToken);
    t.strictSame(asked, [contractId, 'another'], 'states are public');
    const results = { txId: transaction!.id, results: [], assetOperations: [] };
    await ask(contract.commitExecutionSuccess.bind(contract), results, authToken);
    t.match(await outcome, { kind: 'success' });
  }
});

t.test('tokens open what they are for and nothing else', async (t) => {
  const { session, client, token, open, stream } = await connected(t);
  const key = client.contract.getContractKey.bind(client.contract);
  const commit = client.contract.commitExecutionSuccess.bind(client.contract);
  const call = execution({}, readsOf([{ key: 'a', type: 'boolean', value: true }]));
  const { id: txId, contractId } = call.transaction;
  const outcome = session.run(call, patient);
  await stream.next();
  const asked = { contractId, key: 'a' };
  const wrong = { status: UNAUTHENTICATED, code: '622' };
  t.match(await refusal(ask(key, asked)), { status: UNAUTHENTICATED, code: '618' });
  t.match(await refusal(ask(key, asked, '')), { status: UNAUTHENTICATED });
  t.match(await refusal(ask(key, asked, token)), wrong, 'the token of the connection');
  t.match(await refusal(ask(key, asked, `${call.token}=`)), wrong);
  const forged = `${call.token.startsWith('A') ? 'B' : 'A'}${call.token.slice(1)}`;
  t.match(await refusal(ask(key, asked, forged)), wrong, 'a forged one');
  t.match(await client.connect(connectionId, call.token).failed, { code: UNAUTHENTICATED });
  t.match(await client.connect('another', token).failed, { code: INVALID_ARGUMENT });

  const neighbour = await open('fedcba9876543210');
  const stranger = sdkClient(addressOf(neighbour.session));
  t.teardown(stranger.close);
  const foreign = stranger.contract.getContractKey.bind(stranger.contract);
  t.match(await refusal(ask(foreign, asked, call.token)), wrong, 'on the socket of another');

  const results: never[] = [];
  const other = { txId: id(), results, assetOperations: [] };
  t.match(await refusal(ask(commit, other, call.token)), { status: INVALID_ARGUMENT });
  await ask(key, asked, call.token);
  await ask(commit, { ...other, txId }, call.token);
  t.match(await outcome, { kind: 'success' });
  t.match(await refusal(ask(commit, { ...other, txId }, call.token)), { status: INVALID_ARGUMENT });
  t.match(await refusal(ask(key, asked, call.token)), wrong, 'after the commit');
});

t.test('tokens expire', async (t) => {
  const { session, client, token, stream } = await connected(t, { tokenLifetimeMs: 3000 });
  const key = client.contract.getContractKey.bind(client.contract);
  const call = execution({}, readsOf([{ key: 'a', type: 'boolean', value: true }]));
  void session.run(call, patient).catch(() => {});
  await stream.next();
  const asked = { contractId: '', key: 'a' };
  await ask(key, asked, call.token);
  await new Promise((resolve) => setTimeout(resolve, 3100));
  t.match(await refusal(ask(key, asked, call.token)), { status: UNAUTHENTICATED, code: '622' });
  t.match(await client.connect(connectionId, token).failed, { code: UNAUTHENTICATED });
});

t.test('a call that is aborted counts no more', async (t) => {
  const { session, client, stream } = await connected(t);
  const commit = client.contract.commitExecutionSuccess.bind(client.contract);
  const call = execution();
  const controller = new AbortController();
  const outcome = session.run(call, controller.signal);
  await stream.next();
  controller.abort(new Error('too late'));
  await t.rejects(outcome, { message: 'too late' });
  const late = { txId: call.transaction.id, results: [], assetOperations: [] };
  t.match(await refusal(ask(commit, late, call.token)), { status: INVALID_ARGUMENT });
});

t.test('the end of the stream is the end of the container', async (t) => {
  const { session, client, stream } = await connected(t);
  const rejected = t.rejects(session.run(execution(), patient));
  await stream.next();
  stream.cancel();
  await session.ended;
  await session.close();
  await rejected;
  await t.rejects(session.run(execution(), patient));
  const key = client.contract.getContractKey.bind(client.contract);
  await t.rejects(ask(key, { contractId: '', key: 'a' }, 'token'));
});

t.test('a container that never connects', async (t) => {
  const { open } = await opened(t);
  const { session } = await open();
  await t.rejects(session.ready('container', AbortSignal.timeout(50)));
  const second = await open();
  const ready = second.session.ready('container', patient);
  const rejected = t.rejects(ready);
  await second.session.close();
  await rejected;
});

t.test('asset operations are refused, and the contract may say something else', async (t) => {
  const { session, client, stream } = await connected(t);
  const call = execution();
  const outcome = session.run(call, patient);
  await stream.next();
  const txId = call.transaction.id;
  const commit = client.contract.commitExecutionSuccess.bind(client.contract);
  const burn = { assetId: 'a', amount: long(1n) };
  const withBurn = { txId, results: [], assetOperations: [{ burn }] as never[] };
  t.match(await refusal(ask(commit, withBurn, call.token)), {
    status: INVALID_ARGUMENT,
    message: 'Asset operations are not supported',
  });
  const noValue = { txId, results: [{ key: 'a' }] as never[], assetOperations: [] };
  t.match(await refusal(ask(commit, noValue, call.token)), { status: INVALID_ARGUMENT });
  const fail = client.contract.commitExecutionError.bind(client.contract);
  await ask(fail, { txId, message: 'no', code: 0 }, call.token);
  t.match(await outcome, { kind: 'error' });
});

t.test('what a contract may read', async (t) => {
  const entries: DataEntry[] = ['a', 'b', 'c'].map((key) => ({ key, type: 'string', value: key }));
  const { session, client, stream } = await connected(t);
  const call = execution({}, readsOf(entries));
  void session.run(call, patient).catch(() => {});
  await stream.next();
  const { contractId } = call.transaction;
  const { contract } = client;
  const keys = (request: object) =>
    ask<ContractKeysRequest, ContractKeysResponse>(
      contract.getContractKeys.bind(contract),
      ContractKeysRequest.fromPartial({ contractId, ...request }),
      call.token,
    );
  const names = async (request: object) => (await keys(request)).entries.map(({ key }) => key);
  t.strictSame(await names({}), ['a', 'b', 'c']);
  t.strictSame(await names({ offset: 1, limit: 1 }), ['b']);
  t.strictSame(await names({ limit: 0 }), []);
  t.strictSame(await names({ keysFilter: { keys: ['a', 'c', 'x'] } }), ['a', 'c']);
  t.strictSame(await names({ matches: '(a|b)', offset: 1 }), ['b']);
  t.strictSame(await names({ contractId: '', matches: '(a|b)' }), ['a', 'b'], 'as the SDK asks');
  t.match(await refusal(keys({ offset: -1 })), { status: INVALID_ARGUMENT });
  t.match(await refusal(keys({ contractId: 'unknown' })), { status: NOT_FOUND, code: '600' });

  const key = (name: string) =>
    ask(contract.getContractKey.bind(contract), { contractId, key: name }, call.token);
  t.match(await key('b'), { entry: { key: 'b', stringValue: 'b' } });
  t.match(await refusal(key('ключ %')), {
    status: NOT_FOUND,
    code: '304',
    message: `no data for this key: ${encodeURIComponent('ключ')} %25`,
  });
  const balances = ask(
    contract.getContractBalances.bind(contract),
    { assetsIds: ['', 'asset'] },
    call.token,
  );
  t.match(await balances, {
    assetsBalances: [
      { assetId: undefined, amount: long(0n), decimals: 8 },
      { assetId: 'asset', amount: long(0n), decimals: 3 },
    ],
  });
  t.match(await ask(contract.calculateAssetId.bind(contract), { nonce: 5 }, call.token), {
    value: 'asset-5',
  });
});

t.test('the other services', async (t) => {
  const { session, client, stream } = await connected(t);
  const call = execution({}, readsOf([{ key: 'a', type: 'integer', value: 5n }]));
  void session.run(call, patient).catch(() => {});
  await stream.next();
  const { token } = call;
  const { address: addresses, permission, privacy, transaction, util, pki } = client;
  t.match(await ask(addresses.getAddresses.bind(addresses), {}, token), {
    addresses: ['first', 'second'],
  });
  const data = { address: address(), limit: 1, offset: 0 };
  t.match(await ask(addresses.getAddressData.bind(addresses), data, token), {
    entries: [{ key: 'a', intValue: long(5n) }],
  });
  const assetId = Buffer.from([1, 2, 3]);
  const balance = addresses.getAssetBalance.bind(addresses);
  t.match(await ask(balance, { address: Buffer.alloc(26), assetId }, token), {
    assetId,
    amount: long(2n ** 60n),
    decimals: 3,
  });
  t.match(await ask(balance, { address: Buffer.alloc(26), assetId: undefined }, token), {
    assetId: undefined,
  });
  const one = permission.getPermissions.bind(permission);
  t.match(await ask(one, { address: 'me', timestamp: undefined }, token), {
    roles: [
      { role: 'miner of me', dueTimestamp: undefined },
      { role: 'sender', dueTimestamp: long(1800000000000n) },
    ],
    timestamp: long(1700000000003n),
  });
  const at = long(1600000000000n);
  t.match(await ask(one, { address: 'me', timestamp: at }, token), { timestamp: at });
  const many = permission.getPermissionsForAddresses.bind(permission);
  t.match(await ask(many, { addresses: ['me', 'you'], timestamp: at }, token), {
    addressToRoles: [
      { address: 'me', roles: [{ role: 'miner of me' }, { role: 'sender' }] },
      { address: 'you', roles: [{ role: 'miner of you' }, {}] },
    ],
    timestamp: at,
  });
  const policyId = 'policy';
  t.match(await ask(privacy.getPolicyRecipients.bind(privacy), { policyId }, token), {
    recipients: [policyId],
  });
  t.match(await ask(privacy.getPolicyOwners.bind(privacy), { policyId }, token), {
    owners: ['owner'],
  });
  t.match(await ask(privacy.getPolicyHashes.bind(privacy), { policyId }, token), {
    hashes: ['hash'],
  });
  const exists = transaction.transactionExists.bind(transaction);
  t.strictSame(await ask(exists, { txId: 'known' }, token), { exists: true });
  t.strictSame(await ask(exists, { txId: 'unknown' }, token), { exists: false });
  t.match(await ask(util.getNodeTime.bind(util), {}, token), {
    system: long(1700000000001n),
    ntp: long(1700000000002n),
  });
  const item = privacy.getPolicyItemData.bind(privacy);
  t.match(await refusal(ask(item, { policyId, itemHash: '' }, token)), { status: UNIMPLEMENTED });
  const verify = pki.verify.bind(pki);
  t.match(await refusal(ask(verify, PkiVerifyRequest.fromPartial({}), token)), {
    status: UNIMPLEMENTED,
  });
});

t.test('over TCP a connection belongs to one container', async (t) => {
  const { open } = await opened(t, { listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } });
  const first = await open(connectionId, translated);
  const second = await open('fedcba9876543210', translated);
  const address = addressOf(first.session);
  t.match(address, /^127\.0\.0\.1:\d+$/);
  t.strictSame(first.session.setup.mounts, []);
  t.equal(addressOf(second.session), address);
  const client = sdkClient(address);
  t.teardown(client.close);
  const ready = first.session.ready('container', patient);
  const stream = client.connect(connectionId, first.token);
  await ready;
  t.match(await client.connect('fedcba9876543210', second.token).failed, { code: UNAUTHENTICATED });
  const call = execution();
  const outcome = first.session.run(call, patient);
  await stream.next();
  const commit = client.contract.commitExecutionSuccess.bind(client.contract);
  const results = { txId: call.transaction.id, results: [], assetOperations: [] };
  await ask(commit, results, call.token);
  t.match(await outcome, { kind: 'success' });
  await first.session.close();
  t.ok(await stream.failed);
});

/** A number as the stubs carry it. */
const long = (value: bigint) =>
  EntryMessage.fromJSON({ key: '', intValue: String(value) }).intValue!;

const isLong = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && 'unsigned' in value;

function received(entry: object): unknown {
  const { key, ...values } = entry as Record<string, unknown>;
  const [[kind, value] = []] = Object.entries(values).filter(([, one]) => one !== undefined);
  return [key, kind, isLong(value) ? BigInt(value.toString()) : value];
}

function plain({ key, type, value }: DataEntry): unknown {
  const kind = {
    integer: 'intValue',
    boolean: 'boolValue',
    binary: 'binaryValue',
    string: 'stringValue',
  };
  return [key, kind[type], value instanceof Uint8Array ? Buffer.from(value) : value];
}
