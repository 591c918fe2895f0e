import { equal } from '../../base/bytes.ts';
import type { TrackedBlock } from '../../finality/tracked-block.ts';
import type { Tracker } from '../../finality/tracker.ts';

/** The key of the voter with this address, among those who decide on the head or on its children. */
export function voterKeyOf(
  address: Uint8Array,
  tracker: Pick<Tracker, 'deciding'>,
  head: TrackedBlock,
): Uint8Array | undefined {
  for (const sets of [head.leaves, head.deciding]) {
    const { keys, addresses } = tracker.deciding(sets).members;
    const at = addresses.findIndex((one) => equal(one, address));
    if (at !== -1) return keys[at];
  }
  return undefined;
}
