/** Tests without a node: `npm test`. The state is a map. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { State, Transaction, Value } from './client/contract.ts';
import { points } from './contract.ts';

const stateOf = (entries: Readonly<Record<string, Value>>): State => ({
  get: async (key) => entries[key],
  matching: async () => new Map(),
});

const sentBy = (sender: string, params: Readonly<Record<string, Value>>): Transaction => ({
  id: 'id',
  sender,
  senderPublicKey: 'key',
  contractId: 'contract',
  params: new Map(Object.entries(params)),
  timestamp: 0,
  block: { height: 2, timestamp: 0 },
});

test('the creator gets all points', async () => {
  const results = await points.create(sentBy('Alice', { supply: 1000n }), stateOf({}));
  assert.deepEqual(results, { 'balance-Alice': 1000n });
});

test('a call sends some of them', async () => {
  const state = stateOf({ 'balance-Alice': 1000n, 'balance-Bob': 5n });
  const results = await points.call(sentBy('Alice', { to: 'Bob', amount: 10n }), state);
  assert.deepEqual(results, { 'balance-Alice': 990n, 'balance-Bob': 15n });
});

test('more than there is, and amounts that are none, are refused', async () => {
  const state = stateOf({ 'balance-Alice': 1n });
  const send = async (params: Readonly<Record<string, Value>>) =>
    points.call(sentBy('Alice', params), state);
  await assert.rejects(send({ to: 'Bob', amount: 2n }), /Alice has only 1 points/);
  await assert.rejects(send({ to: 'Bob', amount: -1n }), /amount must be an integer above 0/);
  await assert.rejects(send({ to: 'Bob', amount: '1' }), /amount must be an integer above 0/);
  await assert.rejects(send({ amount: 1n }), /to must be an address/);
  await assert.rejects(send({ to: 'Alice', amount: 1n }), /the same/);
});
