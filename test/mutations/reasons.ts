/**
 * Guards that no test can miss, with the reason. Each must exist, and must survive: a reason for a
 * guard that a test does notice is out of date.
 */
import { type Guard, nameOf } from './guards.ts';

/** By the name of the guard. */
export const reasons: ReadonlyMap<string, string> = new Map([
  [
    'src/chain/finality/finality-rules.ts carriedBy: throw cause;',
    'decoding throws its own error only; any other is a fault of the node',
  ],
  [
    "src/chain/finality/finality-rules.ts FinalityRules.judge: if (root === undefined) throw apiError('Invalid', 'The chain has no root of finality');",
    'the version of the block is checked before, and with the feature there is a root',
  ],
  [
    "src/chain/fork/branch-switch.ts BranchSwitch.attempt: if (lead === 'ours') return 'outvoted';",
    'a shortcut: the exact comparison says the same of the branch once it is applied',
  ],
  [
    'src/contracts/execution/circuit-breakers.ts createRestingImages.areMany: if (images.size < IMAGES_MAX) return false;',
    'a shortcut: the same number is compared again, without the rests that have ended',
  ],
  [
    'src/contracts/execution/run-contract.ts brokenEngine: if (isOurs(cause)) throw cause;',
    'an assertion: it acts only where the node is wrong, and the node stops',
  ],
  [
    'src/finality/finality.ts decoded: throw cause;',
    'decoding throws its own error only; any other is a fault of the node',
  ],
  [
    'src/finality/note-file.ts readerOfNote: end < 0',
    'fewer bytes than a hash are equal to none: it says so without making one',
  ],
  [
    'src/finality/proofs/offline-proof.ts readLinks: throw cause;',
    'decoding throws its own error only; any other is a fault of the node',
  ],
  [
    'src/mempool/journal/recovery.ts Recovery.ask: if (isOurs(cause)) throw cause;',
    'an assertion: it acts only where the node is wrong, and the node stops',
  ],
  [
    'src/mempool/journal/recovery.ts Recovery.replaces: if (equal(earlier.bytes, bytes)) return false;',
    'no refusal: without it the later one of two equal records takes the place of the earlier one',
  ],
  [
    'src/mempool/reorg/readmission.ts Readmission.#check: if (isOurs(cause)) throw cause;',
    'an assertion: it acts only where the node is wrong, and the node stops',
  ],
  [
    'src/privacy/serving/serve-items.ts ItemServer.serve: if (message === undefined) return stream.abort();',
    'without it, decoding nothing throws, and the stream is aborted all the same',
  ],
  [
    'src/tx/decoder.ts decodeAny: if (!(cause instanceof CodecError)) throw cause;',
    'a fault of the node: no layout can be read then, and the first fault is thrown in the end',
  ],
  [
    "src/tx/fields/order-pair.ts fromJson: if (!isObject(json)) throw mismatch(path, json, 'jsobject');",
    'the fields of a transaction are read from an object, which the compiler cannot know here',
  ],
  [
    'src/tx/scripts/known-scripts.ts orRefused: throw cause;',
    'reading a script throws only its own error; any other is a fault of the node',
  ],
  [
    'src/tx/scripts/script-environment.ts requireSearchable: text.length > bytesMax',
    'a text has at least as many bytes as characters: it spares making the bytes of a long one',
  ],
  [
    'src/tx/types/105-executed-contract.ts fromJson: throw cause;',
    'reading a request throws refusals only; anything else is a fault of the node',
  ],
  [
    'src/tx/types/120-atomic.ts fromJson: throw cause;',
    'reading a request throws refusals only; anything else is a fault of the node',
  ],
  [
    'src/contracts/execution/block-in-work.ts createBlockInWork.addMade: if (isBlockFull(cause)) throw cause;',
    'a shortcut: the check of the call itself meets the same limit, and throws the same',
  ],
  [
    'src/contracts/execution/block-in-work.ts createBlockInWork.addGroup: if (!addMade(made, { tx, verdicts })) return false;',
    'a second line: the room is compared after each result of the group, and nothing is added meanwhile',
  ],
  [
    "src/contracts/groups/group-images.ts areGood: if (check === 'busy' && !hasWaited) return false;",
    'no refusal: without it a check that finds no place holds the group up',
  ],
  [
    "src/contracts/groups/group-run.ts readinessOf: if (!block.room.fits(size + memberContracts.length * RESULT_BYTES)) return 'waits';",
    'a shortcut: the block has no room for it either, once it is decoded',
  ],
  [
    "src/contracts/groups/group-run.ts readinessOf: if (planned === undefined) return 'begins';",
    'a second line: what calls a contract that is not there is refused on arrival, and leaves at a rollback',
  ],
  [
    'src/contracts/groups/group-run.ts addResult: if (!block.hasRoom(executing.bytes)) return false;',
    'a shortcut: the room is compared again where the whole is added',
  ],
  [
    'src/contracts/groups/group-run.ts addResult: if (isBlockFull(cause)) throw cause;',
    'a shortcut: the check of the member itself meets the same limit, and throws the same',
  ],
  [
    'src/contracts/groups/group-run.ts addResult: group.check(member);',
    'no refusal: the whole was tried before it ran, so without it a fault of its own results holds it up',
  ],
  [
    'src/contracts/groups/group-run.ts addResult: throw new ResultRefused(String(cause));',
    'a shortcut: the whole is refused for the same reason where it is added',
  ],
  [
    "src/contracts/groups/group-run.ts called: if (first.now) return 'stopped';",
    'no refusal: the node stops, and nothing of the block is used',
  ],
  [
    'src/contracts/waiting/warm-up.ts createWarmUp.isNews: if (now - (seen.get(contract) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return false;',
    'no refusal: without it each arrival asks for the container',
  ],
]);

export function reasonsInVain(
  guards: readonly Guard[],
  isKilled: (guard: Guard) => boolean,
): readonly string[] {
  const byName = new Map(guards.map((guard) => [nameOf(guard), guard]));
  return [...reasons.keys()].flatMap((name) => {
    const guard = byName.get(name);
    if (guard === undefined) return [`there is no such guard any more: ${name}`];
    return isKilled(guard) ? [`a test notices, so no reason is needed: ${name}`] : [];
  });
}
