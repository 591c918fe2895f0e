import t from 'tap';
import { Uploads } from '../../../src/adapters/private-store/uploads.ts';

t.test('what clients send does not wait behind slow peers', async (t) => {
  const uploads = new Uploads({ client: 1, peer: 2 });
  let end = (): void => {};
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  let begun = 0;
  const slowly = Array.from({ length: 3 }, () =>
    uploads.run(() => {
      begun++;
      return held;
    }, 'peer'),
  );
  t.equal(await uploads.run(async () => 'stored', 'client'), 'stored');
  t.equal(begun, 2);
  end();
  await Promise.all(slowly);
  t.equal(begun, 3);
});
