/**
 * Points that accounts send to each other. The creator of the contract gets all of them: parameter
 * `supply`. A call with the parameters `to` and `amount` sends some of the caller's.
 */
import { type Contract, Refusal, type State, type Transaction } from './client/contract.ts';

const balanceKey = (address: string): string => `balance-${address}`;

async function balanceOf(address: string, state: State): Promise<bigint> {
  const balance = await state.get(balanceKey(address));
  return typeof balance === 'bigint' ? balance : 0n;
}

function positive({ params }: Transaction, name: string): bigint {
  const value = params.get(name);
  if (typeof value !== 'bigint' || value <= 0n) {
    throw new Refusal(`${name} must be an integer above 0`);
  }
  return value;
}

export const points: Contract = {
  create(transaction) {
    return { [balanceKey(transaction.sender)]: positive(transaction, 'supply') };
  },

  async call(transaction, state) {
    const { sender, params } = transaction;
    const to = params.get('to');
    const amount = positive(transaction, 'amount');
    if (typeof to !== 'string' || to === '') throw new Refusal('to must be an address');
    if (to === sender) throw new Refusal('sender and recipient are the same');
    const balance = await balanceOf(sender, state);
    if (balance < amount) throw new Refusal(`${sender} has only ${balance} points`);
    return {
      [balanceKey(sender)]: balance - amount,
      [balanceKey(to)]: (await balanceOf(to, state)) + amount,
    };
  },
};
