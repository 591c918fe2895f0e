/** Scripts find transactions alike in the block in the making and in the blocks before it. */
import t from 'tap';
import { latin1Part } from '../../src/base/bytes.ts';
import { TxsById } from '../../src/chain/apply/txs-by-id.ts';
import { ID_PREFIX_BYTES } from '../../src/chain/store/block-index.ts';
import { candidateUnder } from '../../src/chain/store/stored-blocks.ts';
import { base58 } from '../../src/codec/text.ts';
import { feature } from '../../src/tx/rules/features.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import { atomic, sealedForBlock } from '../../src/tx/types/120-atomic.ts';
import { compiled } from '../generators/scripts.ts';
import {
  mine,
  newChain,
  nextTurn,
  payment,
  rules,
  scheme,
  signed,
  users,
} from './chain-harness.ts';

const [alice, bob, carol] = users;
const none = new Uint8Array(0);

t.test('an id, and one that only begins like it', async (t) => {
  const at = await newChain();
  const { time } = nextTurn(at);
  const wanted = payment(bob, carol, 1n, time);
  const other = wanted.id.slice();
  other[16]! ^= 1;
  const asked = (id: Uint8Array): string => `transactionHeightById(base58'${base58.encode(id)}')`;
  const source = `isDefined(${asked(wanted.id)}) && !isDefined(${asked(other)})`;
  const guard = { name: 'guard', description: '', chainId: scheme.chainId, timestamp: time };
  const input = { ...guard, script: compiled(source), fee: setScript.fee ?? 0n };
  await mine(at, [signed(setScript, alice, input as never, 1)]);

  const pay = (amount: bigint) => {
    const recipient = { kind: 'address', bytes: bob.address } as const;
    const fields = { amount, recipient, attachment: none, fee: 1_400_000n, timestamp: time };
    return signed(transfer, alice, fields as never, 2);
  };
  await t.rejects(mine(at, [pay(1n)]), { message: /not allowed by account-script/ });
  const together = await mine(at, [wanted, pay(2n)]);
  t.equal(together.transactions.length, 2, 'in one block');
  const later = await mine(at, [pay(3n)]);
  t.equal(later.transactions.length, 1, 'in a later one');
});

t.test('a member of an atomic transaction, at the same price in both places', async (t) => {
  const features = new Map([...rules.preActivatedFeatures, [feature.atomic, 0] as const]);
  const at = await newChain(undefined, { ...rules, preActivatedFeatures: features });
  const { time, miner } = nextTurn(at);
  const part = (amount: bigint) => {
    const recipient = { kind: 'address', bytes: carol.address } as const;
    const atomicBadge = { trustedSender: undefined };
    const input = { amount, recipient, attachment: none, fee: 1_000_000n, timestamp: time };
    return signed(transfer, bob, { ...input, atomicBadge } as never, 3);
  };
  const [first, wanted] = [part(1n), part(2n)];
  const group = signed(atomic, bob, { transactions: [first, wanted], timestamp: time } as never, 1);
  const sealed = sealedForBlock(group, miner);
  const textOf = (id: Uint8Array): string => latin1Part(id, 0, ID_PREFIX_BYTES);
  const here = new TxsById([sealed], textOf).findAt(textOf(wanted.id), 2);
  t.match(here, { height: 2, size: sealed.bytes.length });
  t.strictSame(here?.tx.id, wanted.id);
  await mine(at, [sealed]);
  const stored = candidateUnder(at.blockchain.view, wanted.id);
  t.match(stored, { height: 2, size: sealed.bytes.length });
  t.strictSame(stored?.tx().id, wanted.id);
  const like = wanted.id.slice();
  like[16]! ^= 1;
  t.strictSame(candidateUnder(at.blockchain.view, like)?.tx().id, wanted.id, 'as in the draft');
});
