/**
 * The family of cryptography of this run: the international one, or that which TEST_FAMILY names. The
 * runner runs some files once per family (scripts/repeated-runs.ts).
 */
import { createFamily, familyNames } from '../src/crypto/families.ts';

const asked = process.env['TEST_FAMILY'] ?? 'curve25519';
const name = familyNames.find((one) => one === asked);
if (name === undefined) throw new Error(`there is no family ${asked}`);

export const family = createFamily(name);
