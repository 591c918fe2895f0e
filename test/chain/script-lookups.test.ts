/** Scripts find transactions alike in the block in the making and in the blocks before it. */
import t from 'tap';
import { base58 } from '../../src/codec/text.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import { compiled } from '../generators/scripts.ts';
import { mine, newChain, nextTurn, payment, scheme, signed, users } from './chain-harness.ts';

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
