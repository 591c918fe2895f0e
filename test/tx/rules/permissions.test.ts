import t from 'tap';
import { inOneGo } from '../../../src/concurrency/steps.ts';
import { minersInSteps } from '../../../src/ledger/miner-queue.ts';
import { rolesAt } from '../../../src/ledger/permissions.ts';
import type { Role } from '../../../src/ledger/roles.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { registerNode } from '../../../src/tx/types/111-register-node.ts';
import {
  type Actor,
  actor,
  createHarness,
  GENESIS_TIME,
  type Harness,
  WEST,
} from './ledger-harness.ts';

const minersAt = (...of: Parameters<typeof minersInSteps>) => inOneGo(minersInSteps(...of));

const [admin, second, carol, dave] = [actor(1), actor(2), actor(3), actor(4)] as const;
const MINUTE = 60_000;

async function network(): Promise<Harness> {
  return createHarness({
    balances: [
      [admin, 1000n * WEST],
      [second, 1000n * WEST],
      [carol, 1000n * WEST],
    ],
    participants: [
      [admin, ['miner', 'permissioner', 'connection_manager', 'blacklister']],
      [second, ['issuer']],
    ],
  });
}

const change = (
  opType: 'add' | 'remove',
  role: Role,
  target: Actor,
  rest: { readonly dueTimestamp?: number; readonly timestamp?: number } = {},
) => ({ opType, role, target: target.to, ...rest });

const denied = (of: Actor, reason: string): string =>
  `PermissionError(Sender ${of.text} permission validation failed: ${reason})`;
const last = (role: Role, of: Actor): string =>
  `Trying to revoke role '${role}' from it's last owner: '${of.text}'`;

t.test('scenario 49: a banned sender cannot date a transaction back', async (t) => {
  const h = await network();
  h.send(permit, admin, change('add', 'banned', carol));
  await h.mine();
  const late = h.make(transfer, carol, {
    recipient: admin.to,
    amount: 1n,
    timestamp: h.now - MINUTE,
  });
  t.equal(h.refusal(late), denied(carol, `Sender is 'banned'`));
  // Others may still send to it, and it may again when the ban is lifted.
  h.send(transfer, admin, { recipient: carol.to, amount: 5n });
  const during = h.make(transfer, carol, { recipient: admin.to, amount: 1n });
  await h.mine();
  h.send(permit, admin, change('remove', 'banned', carol));
  await h.mine();
  h.send(transfer, carol, { recipient: admin.to, amount: 1n });
  t.equal(h.refusal(during), denied(carol, `Sender is 'banned'`), 'written while banned');
});

t.test('scenario 49: neither can a sender who lost a role', async (t) => {
  const h = await network();
  h.send(permit, admin, change('remove', 'issuer', second));
  await h.mine();
  const asset = { name: 'Gold', description: '', quantity: 1n, decimals: 0, reissuable: false };
  const tx = h.make(issue, second, { ...asset, timestamp: GENESIS_TIME + 1 });
  t.equal(h.refusal(tx), denied(second, `Has no active 'issuer' role`));
});

t.test('scenario 50: a role with due date ends exactly then', async (t) => {
  const h = await network();
  const due = h.now + MINUTE;
  h.send(permit, admin, change('add', 'issuer', carol, { dueTimestamp: due }));
  await h.mine();
  const asset = { name: 'Gold', description: '', quantity: 1n, decimals: 0, reissuable: false };
  h.now = due - 1;
  h.send(issue, carol, asset);
  await h.mine();
  h.now = due;
  t.equal(h.refusal(h.make(issue, carol, asset)), denied(carol, `Has no active 'issuer' role`));
  t.same(rolesAt(h.head, carol.address, due - 1).length, 1);
  t.same(rolesAt(h.head, carol.address, due).length, 0);
});

t.test('scenario 51: the last permissioner stays', async (t) => {
  const h = await network();
  const refused = (...args: Parameters<typeof change>) =>
    h.refusal(h.make(permit, admin, change(...args)));
  t.equal(refused('remove', 'permissioner', admin), last('permissioner', admin));
  t.equal(refused('add', 'banned', admin), last('miner', admin));
  h.send(permit, admin, change('add', 'miner', second));
  h.send(permit, admin, change('add', 'connection_manager', second));
  await h.mine();
  t.equal(refused('add', 'banned', admin), last('permissioner', admin));
  h.send(permit, admin, change('add', 'permissioner', second, { dueTimestamp: h.now + MINUTE }));
  await h.mine();
  t.equal(refused('remove', 'permissioner', admin), last('permissioner', admin));
  const due = { dueTimestamp: h.now + MINUTE };
  t.equal(
    refused('add', 'permissioner', admin, due),
    last('permissioner', admin),
    'nor does it get an end',
  );
  h.send(permit, admin, change('add', 'permissioner', carol));
  await h.mine();
  h.send(permit, admin, change('add', 'banned', carol));
  t.equal(refused('remove', 'permissioner', admin), last('permissioner', admin), 'carol is banned');
  await h.mine();
  h.send(permit, admin, change('remove', 'banned', carol));
  await h.mine();
  h.send(permit, admin, change('remove', 'permissioner', admin));
  await h.mine();
  t.equal(
    h.refusal(h.make(permit, admin, change('add', 'issuer', dave))),
    denied(admin, `Has no active 'permissioner' role`),
  );
});

t.test('two permissioners cannot remove each other for a later time', async (t) => {
  const h = await network();
  h.send(permit, admin, change('add', 'permissioner', carol));
  await h.mine();
  const later = h.now + 60 * MINUTE;
  h.send(permit, admin, change('remove', 'permissioner', carol, { timestamp: later }));
  await h.mine();
  const before = { timestamp: later - 1 };
  t.equal(
    h.refusal(h.make(permit, carol, change('remove', 'permissioner', admin, before))),
    last('permissioner', admin),
  );
});

t.test('scenario 52: a blacklister bans and does nothing else', async (t) => {
  const h = await network();
  h.send(permit, admin, change('add', 'blacklister', carol));
  await h.mine();
  h.send(permit, carol, change('add', 'banned', dave));
  t.equal(
    h.refusal(h.make(permit, carol, change('add', 'miner', dave))),
    denied(carol, `Has no active 'permissioner' role`),
  );
  t.equal(
    h.refusal(h.make(permit, second, change('add', 'banned', dave))),
    denied(second, `Doesn't have any of required roles: permissioner, blacklister`),
  );
});

t.test('scenario 53: changes that change nothing, and due dates', async (t) => {
  const h = await network();
  const refused = (...args: Parameters<typeof change>) =>
    h.refusal(h.make(permit, admin, change(...args)));
  t.equal(refused('add', 'issuer', second), 'Cannot assign role that is already active');
  t.equal(refused('remove', 'issuer', carol), 'Cannot remove role that is already inactive');
  t.equal(
    refused('remove', 'issuer', second, { dueTimestamp: h.now + MINUTE }),
    'Due date should not be defined for PermitTransaction with OpType Remove',
  );
  const past = 'Cannot add permission transaction that is already expired';
  t.equal(refused('add', 'dex', carol, { dueTimestamp: h.now }), past);
  t.equal(refused('add', 'dex', carol, { dueTimestamp: h.now - 1 }), past);
  t.equal(
    refused('add', 'sender', carol),
    `The role 'Sender' is not allowed by network parameters`,
  );
  h.send(permit, admin, change('add', 'issuer', second, { dueTimestamp: h.now + MINUTE }));
  t.equal(
    refused('remove', 'issuer', second),
    `Role 'issuer' of ${second.text} already changes at ${h.now}`,
    'H-7',
  );
  await h.mine();
  h.send(permit, admin, change('add', 'issuer', second));
});

t.test('scenario 54: every role is asked for', async (t) => {
  const h = await network();
  const asset = { name: 'Gold', description: '', quantity: 1n, decimals: 0, reissuable: false };
  t.equal(h.refusal(h.make(issue, carol, asset)), denied(carol, `Has no active 'issuer' role`));
  const node = { targetPubKey: dave.publicKey, nodeName: 'dave', opType: 'add' };
  t.equal(
    h.refusal(h.make(registerNode, carol, node)),
    denied(carol, `Has no active 'connection_manager' role`),
  );
  h.send(registerNode, admin, node);
});

t.test('the role sender, where the network asks for it', async (t) => {
  const h = await createHarness({
    balances: [
      [admin, WEST],
      [carol, WEST],
    ],
    participants: [[admin, ['miner', 'permissioner', 'connection_manager', 'sender']]],
    rules: { senderRoleEnabled: true },
  });
  const pay = { recipient: admin.to, amount: 1n };
  t.equal(h.refusal(h.make(transfer, carol, pay)), denied(carol, `Has no active 'sender' role`));
  h.send(permit, admin, change('add', 'sender', carol));
  await h.mine();
  h.send(transfer, carol, pay);
});

t.test('the queue of miners: by time of the grant, then by address', async (t) => {
  const h = await network();
  const [e, f] = [actor(5), actor(6)];
  h.send(permit, admin, change('add', 'miner', e));
  h.send(permit, admin, change('add', 'miner', f));
  await h.mine();
  const tied = [e, f].map(({ address }) => address).sort(Buffer.compare);
  t.same(minersAt(h.head, h.now), [admin.address, ...tied]);
  h.send(permit, admin, change('remove', 'miner', admin));
  await h.mine();
  h.send(permit, admin, change('add', 'miner', admin));
  await h.mine();
  t.same(minersAt(h.head, h.now), [...tied, admin.address]);
  t.same(minersAt(h.head, GENESIS_TIME), [admin.address]);
});

t.test(
  'scenario 99: nodes are present once, known when removed, and never none is left',
  async (t) => {
    const h = await network();
    const node = (of: Actor, opType: string) => ({
      targetPubKey: of.publicKey,
      nodeName: 'node',
      opType,
    });
    const refusal = (of: Actor, opType: string) =>
      h.refusal(h.make(registerNode, admin, node(of, opType)));
    t.match(refusal(second, 'add'), /^Account '\w+' already presented in blockchain$/);
    t.match(
      refusal(carol, 'remove'),
      /^Account '\w+' is not present in blockchain, therefore not allowed to remove it$/,
    );
    h.send(registerNode, admin, node(second, 'remove'));
    t.match(
      refusal(admin, 'remove'),
      /^Account '\w+' cannot be removed because no participant would be left$/,
    );
  },
);

t.test('roles that the network does not have', async (t) => {
  const h = await network();
  for (const [role, name] of [
    ['sender', 'Sender'],
    ['contract_validator', 'ContractValidator'],
  ] as const) {
    t.equal(
      h.refusal(h.make(permit, admin, change('add', role, carol))),
      `The role '${name}' is not allowed by network parameters`,
    );
  }
});
