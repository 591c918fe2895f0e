/** Images: found, fetched from a registry, refused. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { engineCall } from '../../../containers/api.ts';
import { type Engine, sharedEngine } from '../../../containers/engine.ts';
import { simpleFiles, simpleImage, whyNoBusybox } from '../../../containers/images.ts';
import { startRegistry } from '../../../containers/registry.ts';
import { leftOut } from '../../../left-out.ts';
import { CREATOR, called, opened, prepared } from '../opened.ts';

const shared = await sharedEngine();
const reason = typeof shared === 'string' ? shared : whyNoBusybox();
const skip = reason !== undefined && leftOut(reason);
const engine = shared as Engine;
const SCRIPT = '#!/bin/sh\neval "$TX"\n';
const UNKNOWN = 'f'.repeat(64);

t.test('images of the engine', { skip }, async (t) => {
  const image = await simpleImage(engine, SCRIPT);
  const other = await simpleImage(engine, '#!/bin/sh\n# another\n');
  const { containers, log } = await opened(t, engine);
  const refused = (message: string) => ({
    ...{ kind: 'failure', message, recoverable: false, system: true },
  });
  t.equal(await containers.checkImage(image, CREATOR), undefined);
  t.equal(
    await containers.checkImage({ ...image, imageHash: image.imageHash.toUpperCase() }, CREATOR),
    undefined,
  );

  const wrong = { ...image, imageHash: UNKNOWN };
  // The status is public, and an id of the operator's own images would be the key to run them.
  const message = `Image '${image.image}' is not found`;
  t.strictSame(await containers.checkImage(wrong, CREATOR), refused(message));
  t.strictSame(await prepared(containers, wrong), refused(message));
  t.match(log.of('image.another')[0], { image: image.image, id: image.imageHash });
  t.strictSame(
    await containers.checkImage({ image: 'no/such:image', imageHash: UNKNOWN }, CREATOR),
    refused("Image 'no/such:image' is not found"),
  );
  t.match(
    await containers.checkImage({ ...image, image: other.image }, CREATOR),
    refused(`Image '${other.image}' is not found`),
    'a name that means another image',
  );
  t.match(
    await containers.checkImage({ ...image, image: 'x/no-name-of:it' }, CREATOR),
    refused("Image 'x/no-name-of:it' is not found"),
    'an image that has not this name',
  );
  for (const name of ['../../info', 'UPPER/case', 'a b?c=d&e', '%2e%2e/x', 'ж', ':', '@', '/']) {
    t.match(
      await containers.checkImage({ image: name, imageHash: UNKNOWN }, CREATOR),
      refused(`Image '${name}' is not found`),
      name,
    );
  }
  t.match(await called(containers, image, { json: 'true' }), { kind: 'success' }, 'others go on');
});

t.test('images of a registry', { skip }, async (t) => {
  const login = { username: 'miner', password: 'pass"word' };
  const registry = await startRegistry(t, login);
  const { domain } = registry;
  const tag = randomBytes(6).toString('hex');
  const imageHash = await registry.offer('team/sum', tag, simpleFiles(`${SCRIPT}# ${tag}\n`));
  const name = `team/sum:${tag}`;
  t.teardown(() => removeImage(imageHash));
  const changes = { pull: 'missing' as const, defaultRegistryDomain: domain };

  const stranger = await opened(t, engine, { ...changes, registries: [{ domain }] });
  t.match(await stranger.containers.checkImage({ image: name, imageHash }, CREATOR), {
    kind: 'failure',
    message: `Image '${name}' can't be fetched at present`,
    recoverable: true,
  });

  const registries = [{ domain, ...login }];
  const { containers, log } = await opened(t, engine, { ...changes, registries });
  const check = (image: string, hash = imageHash) =>
    containers.checkImage({ image, imageHash: hash }, CREATOR);
  t.match(await called(containers, { image: name, imageHash }, { json: 'exit 5' }), { code: 5 });
  const asked = registry.requests.length;
  t.equal(await check(name), undefined);
  t.equal(registry.requests.length, asked, 'an image that is there is not fetched');
  t.strictSame(await check(name, UNKNOWN), {
    kind: 'failure',
    message: `Id of image '${name}' isn't equal to its digest '${UNKNOWN}'`,
    recoverable: false,
    system: true,
  });
  t.notOk(
    registry.requests.slice(asked).some((one) => one.includes('/blobs/')),
    'what the manifest shows to be another image is not fetched',
  );
  t.strictSame(await check('team/sum:none', UNKNOWN), {
    ...{ kind: 'failure', message: "Image 'team/sum:none' is not found" },
    ...{ recoverable: false, system: true },
  });
  t.notMatch(JSON.stringify(log.all()), /pass"word/);
});

t.test('logins are tried at the start', { skip }, async (t) => {
  const login = { username: 'miner', password: 'right' };
  const { domain } = await startRegistry(t, login);
  const registries = [
    { domain, ...login },
    { domain, ...login, password: 'wrong' },
  ];
  const { log } = await opened(t, engine, { pull: 'missing', registries, checkRegistryAuth: true });
  for (let i = 0; i < 100 && log.of('registry.no-login').length === 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.match(log.of('registry.no-login'), [{ domain }]);
});

async function removeImage(name: string): Promise<void> {
  const path = `/images/${encodeURIComponent(name)}?force=1`;
  const { body } = await engineCall(engine.socketPath, path, { method: 'DELETE' });
  body.resume();
}
