// Who votes, as state of the chain (finality.md#voters).
import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { CodecError } from '../../../src/codec/codec.ts';
import {
  type Electorate,
  entitledVoters,
  voterSetsAfter,
  voterSetsOfRoot,
} from '../../../src/finality/votes/entitled-voters.ts';
import { decidingOn, isQuorumOfEach, voterSet } from '../../../src/finality/votes/voter-set.ts';
import { quorum } from '../../../src/finality/votes/voter-sets.ts';
import { decodeVoterSets, encodeVoterSets } from '../../../src/finality/votes/voter-sets-bytes.ts';
import { accounts, setOf } from '../network/toy-chain.ts';
import { scheme } from '../vectors.ts';

const four = setOf(1, 2, 3, 4);
const seven = setOf(1, 2, 3, 4, 5, 6, 7);
const keyOf = (n: number) => accounts[n - 1]!.publicKey;
const addressOf = (n: number) => scheme.addressOf(keyOf(n));
const numberOf = (address: Uint8Array) =>
  1 +
  accounts.findIndex(({ publicKey }) => latin1(scheme.addressOf(publicKey)) === latin1(address));

t.test('a set ascends by address, each once', async (t) => {
  const set = voterSet([keyOf(3), keyOf(1), keyOf(3), keyOf(2)], scheme);
  t.equal(set.keys.length, 3);
  t.ok(set.addresses.every((one, i) => i === 0 || Buffer.compare(set.addresses[i - 1]!, one) < 0));
  t.equal(voterSet(seven.keys, scheme, 2).keys.length, 2);
});

t.test('who is entitled', async (t) => {
  const blocks = new Map([
    [2, { timestamp: 50, generator: keyOf(2) }],
    [3, { timestamp: 49, generator: keyOf(3) }],
    [5, { timestamp: 60, generator: keyOf(5) }],
    [6, { timestamp: 60, generator: keyOf(6) }],
  ]);
  const state: Electorate = {
    *miners(time) {
      for (let n = 1; n <= 7; n++) if (time === 100) yield { address: addressOf(n), since: 50 };
    },
    isBanned: (address, time) => time === 100 && numberOf(address) === 5,
    hasScript: (address) => numberOf(address) === 6,
    givenKey: (address) => (numberOf(address) === 1 ? keyOf(1) : undefined),
    lastBlock: (address) => blocks.get(numberOf(address)),
  };
  t.strictSame(entitledVoters(state, 100, scheme).names, setOf(1, 2).names);
  t.equal(entitledVoters(state, 99, scheme).names.size, 0);
});

t.test('nobody is no set', async (t) => {
  const nobody = voterSet([], scheme);
  t.equal(voterSetsOfRoot(nobody), undefined);
  const sets = voterSetsOfRoot(four)!;
  const block = { height: 5, entitled: nobody, provenFinal: undefined };
  t.equal(voterSetsAfter(sets, block), sets);
  const changed = voterSetsAfter(sets, { ...block, entitled: seven });
  t.strictSame(changed.next, { voters: seven, since: 5 });
  t.equal(voterSetsAfter(changed, { ...block, height: 6 }), changed);
});

t.test('both sets give a quorum during a change', async (t) => {
  const sets = voterSetsAfter(voterSetsOfRoot(four)!, {
    height: 5,
    entitled: setOf(1, 5, 6, 7),
    provenFinal: undefined,
  });
  const deciding = decidingOn(sets, scheme);
  t.strictSame(deciding.members.names, seven.names);
  const by = (...numbers: number[]) =>
    isQuorumOfEach(deciding, quorum, (name) => setOf(...numbers).names.has(name));
  t.notOk(by(2, 3, 4));
  t.notOk(by(5, 6, 7));
  t.notOk(by(1, 2, 3, 5));
  t.ok(by(1, 2, 3, 5, 6), 'a vote of 1 counts in both');
});

t.test('bytes', async (t) => {
  for (const sets of [
    { change: 3, current: four, next: undefined },
    { change: 0, current: four, next: { voters: seven, since: 9 } },
  ]) {
    const bytes = encodeVoterSets(sets, scheme);
    t.strictSame(decodeVoterSets(bytes, scheme), sets);
    for (let length = 0; length < bytes.length; length++) {
      t.throws(() => decodeVoterSets(bytes.subarray(0, length), scheme), CodecError);
    }
    const swapped = bytes.slice();
    swapped.set(bytes.subarray(6, 38), 38);
    swapped.set(bytes.subarray(38, 70), 6);
    t.throws(() => decodeVoterSets(swapped, scheme), CodecError);
  }
  t.throws(() => decodeVoterSets(new Uint8Array(7), scheme), CodecError, 'an empty set');
});
