import t from 'tap';
import type { ContractFailure } from '../../../src/base/ports/containers.ts';
import {
  CHECKS_MAX,
  CHECKS_OF_ONE_MAX,
  createImageChecks,
} from '../../../src/contracts/images/image-checks.ts';

t.test('slow checks of one creator leave places for others', async (t) => {
  const ends: (() => void)[] = [];
  const checks = createImageChecks({
    checkImage: () =>
      new Promise<ContractFailure | undefined>((resolve) => {
        ends.push(() => resolve(undefined));
      }),
  });
  const check = (image: string, creator: string) =>
    checks.check({ image, imageHash: 'ab' }, creator);
  for (let i = 0; i < CHECKS_OF_ONE_MAX; i++) t.not(check(`slow ${i}`, 'slow'), 'busy');
  t.equal(check('another', 'slow'), 'busy', 'it waits, which is no failure');
  const joined = check('slow 0', 'good');
  t.equal(ends.length, CHECKS_OF_ONE_MAX, 'the same image is checked once');
  for (let i = 0; i < CHECKS_OF_ONE_MAX; i++) t.not(check(`good ${i}`, 'good'), 'busy');
  ends[0]!();
  t.equal(await joined, undefined);
  t.not(check('another', 'slow'), 'busy');
  for (let i = 4; i < CHECKS_MAX; i++) t.not(check(`other ${i}`, `creator ${i}`), 'busy');
  t.equal(check('one more', 'last'), 'busy');
});
