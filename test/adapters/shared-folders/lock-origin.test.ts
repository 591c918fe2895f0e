// Locks of other kernels are told from those that a kill or a loss of power has left.
import t from 'tap';
import {
  isForeign,
  originOf,
  thisKernel,
} from '../../../src/adapters/shared-folders/lock-origin.ts';

const here = { boot: '11111111', machine: 'aaaaaaaa', bootedAtMs: 1000 };
const inContainer = { ...here, machine: undefined };

t.test('foreign or left behind', (t) => {
  const earlier = { ...here, boot: '22222222' };
  const elsewhere = { ...earlier, machine: 'bbbbbbbb' };
  const container = { ...earlier, machine: undefined };
  const judged = (by: typeof here | typeof inContainer, of: typeof by, madeAtMs: number) =>
    isForeign(`lock-0123456789abcdef${originOf(of)}`, madeAtMs, by);
  t.equal(judged(here, here, 2000), false, 'of a process that was killed');
  t.equal(judged(here, earlier, 2000), false, 'before a restart, whatever the clock says');
  t.equal(judged(here, elsewhere, 500), true, 'another machine, however long it has run');
  t.equal(judged(inContainer, container, 2000), true, 'made since this kernel runs');
  t.equal(judged(inContainer, container, 500), false, 'older than this kernel');
  t.equal(judged(here, container, 2000), true);
  t.equal(isForeign('lock-0123456789abcdef', 2000, here), false, 'of an earlier release');
  t.end();
});

t.test('this kernel', { skip: process.platform !== 'linux' }, (t) => {
  const kernel = thisKernel();
  t.match(originOf(kernel), /^-[0-9a-f]{8}-([0-9a-f]{8}|unknown)$/);
  t.equal(isForeign(`lock-0${originOf(kernel)}`, Date.now(), kernel), false);
  t.equal(originOf({ ...kernel, boot: undefined }), '');
  t.end();
});
