import t from 'tap';
import { afterAttempt } from '../../../src/privacy/fetching/after-attempt.ts';

const options = { attemptsMax: 3, firstDelayMs: 900 };

t.test('again after a while, each time a third longer, until it is lost', async (t) => {
  const after = (failures: number) =>
    afterAttempt('missing', { kind: 'pending', failures }, options);
  t.strictSame(after(0), { kind: 'again', delayMs: 900 });
  t.strictSame(after(1), { kind: 'again', delayMs: 1200 });
  t.strictSame(after(2), { kind: 'lost', isFirst: true });
  const lost = afterAttempt('missing', { kind: 'lost', failures: 2 }, options);
  t.strictSame(lost, { kind: 'lost', isFirst: false }, 'which is no news');
});

t.test('an outcome that needs no further attempt', async (t) => {
  const fresh = { kind: 'new', failures: 0 } as const;
  t.strictSame(afterAttempt('settled', fresh, options), { kind: 'settled' });
  t.strictSame(afterAttempt('no-room', fresh, options), { kind: 'lost', isFirst: false });
});
