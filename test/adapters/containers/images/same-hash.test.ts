/** Two contracts name one image differently; the registry of one of them does not answer. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { type Engine, sharedEngine } from '../../../containers/engine.ts';
import { simpleFiles, simpleImage, whyNoBusybox } from '../../../containers/images.ts';
import { startRegistry } from '../../../containers/registry.ts';
import { leftOut } from '../../../left-out.ts';
import { CREATOR, opened, until } from '../opened.ts';

const shared = await sharedEngine();
const reason = typeof shared === 'string' ? shared : whyNoBusybox();
const skip = reason !== undefined && leftOut(reason);
const engine = shared as Engine;
const SCRIPT = '#!/bin/sh\neval "$TX"\n';
const HOSTILE = 'another creator';

t.test('an image that is there stays there for others', { skip }, async (t) => {
  const silent = await startRegistry(t);
  silent.answer(/./, () => {});
  const good = await startRegistry(t);
  const files = simpleFiles(`${SCRIPT}#${randomBytes(6).toString('hex')}`);
  const imageHash = await good.offer('team/sum', '1', files);
  const ofOperator = await simpleImage(engine, SCRIPT);
  const registries = [{ domain: silent.domain }, { domain: good.domain }];
  const { containers } = await opened(t, engine, { pull: 'missing', registries });
  const fetched = { image: `${good.domain}/team/sum:1`, imageHash };
  t.equal(await containers.checkImage(fetched, CREATOR), undefined);

  const attacks = [ofOperator, fetched].map((of, i) =>
    containers.checkImage({ ...of, image: `${silent.domain}/x:1` }, `${HOSTILE} ${i}`),
  );
  await until(() => silent.requests.length >= attacks.length);
  t.equal(await containers.checkImage(ofOperator, CREATOR), undefined, 'by the operator');
  t.equal(await containers.checkImage(fetched, CREATOR), undefined, 'by the node');
  await containers.close();
  await Promise.all(attacks);
});

t.test('another name of a known image is not kept waiting', { skip }, async (t) => {
  const silent = await startRegistry(t);
  silent.answer(/./, () => {});
  const good = await startRegistry(t);
  const files = simpleFiles(`${SCRIPT}#${randomBytes(6).toString('hex')}`);
  const imageHash = await good.offer('team/sum', '1', files);
  await good.offer('team/other', '1', files);
  const registries = [{ domain: silent.domain }, { domain: good.domain }];
  const { containers } = await opened(t, engine, { pull: 'missing', registries });
  const check = (image: string, creator: string) =>
    containers.checkImage({ image, imageHash }, creator);
  t.equal(await check(`${good.domain}/team/sum:1`, CREATOR), undefined);
  const attack = check(`${silent.domain}/x:1`, HOSTILE);
  await until(() => silent.requests.length > 0);
  t.equal(await check(`${good.domain}/team/other:1`, CREATOR), undefined);
  await containers.close();
  await attack;
});

t.test('nothing lasting is said of an image that is pulled', { skip }, async (t) => {
  const registry = await startRegistry(t);
  const files = simpleFiles(`${SCRIPT}#${randomBytes(6).toString('hex')}`);
  const imageHash = await registry.offer('sum', '1', files);
  registry.answer(/GET \/v2\/sum\/blobs/, () => {});
  const registries = [{ domain: registry.domain }];
  const { containers, log, pulledImages } = await opened(t, engine, {
    ...{ pull: 'missing', registries },
  });
  const pull = containers.checkImage({ image: `${registry.domain}/sum:1`, imageHash }, HOSTILE);
  await until(() => log.of('image.pull').length > 0);
  // A node that is killed now knows at its next start what is left of it.
  t.match(JSON.parse(readFileSync(pulledImages, 'utf8')), [{ hash: imageHash }]);
  t.match(await containers.checkImage({ image: 'operator/sum:1', imageHash }, CREATOR), {
    ...{ kind: 'failure', recoverable: true },
  });
  await containers.close();
  await pull;
});
