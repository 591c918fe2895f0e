/** Layers that become much more than they were, on an engine with a disk of its own. */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { contractLimits } from '../../../../src/base/limits/contract-limits.ts';
import { engineCall, engineJson } from '../../../containers/api.ts';
import { whyNoDaemon } from '../../../containers/daemon.ts';
import { type Engine, privateEngine } from '../../../containers/engine.ts';
import { type Layer, layerOf, startRegistry, ZIPPED_LAYER } from '../../../containers/registry.ts';
import { leftOut } from '../../../left-out.ts';
import { opened, pause, until } from '../opened.ts';

const reason = whyNoDaemon();
const skip = reason !== undefined && leftOut(reason);
const own = skip === false ? await privateEngine(t, { diskSize: '3g' }) : undefined;
const MIB = 1024 * 1024;

/** A node that fetches images of at most 32 MiB from a registry. */
async function withRegistry(scope: Test, pullMs = 120_000) {
  const engine = own as Engine;
  const registry = await startRegistry(scope);
  const { domain } = registry;
  const node = await opened(scope, engine, {
    ...{ pull: 'missing', registries: [{ domain }], imageSizeMax: 32 * MIB, pullMs },
  });
  const check = (name: string, imageHash: string, creator = 'creator') =>
    node.containers.checkImage({ image: `${domain}/${name}`, imageHash }, creator);
  const isThere = async (id: string): Promise<boolean> => {
    const { status, body } = await engineCall(engine.socketPath, `/images/${id}/json`);
    body.resume();
    return status === 200;
  };
  const failure = (name: string, words: string, recoverable: boolean) => ({
    ...{
      kind: 'failure',
      message: `Image '${domain}/${name}' ${words}`,
      recoverable,
      system: true,
    },
  });
  return { ...node, registry, check, isThere, failure };
}

t.test('a layer that becomes a thousand times as big', { skip }, async (t) => {
  const { registry, check, isThere, failure, log, pulledImages } = await withRegistry(t);
  const bomb = await bombOf(200 * MIB);
  const { id } = registry.offerLayers('bomb', '1', [bomb]);
  t.ok(bomb.bytes.length < 8 * MIB);
  t.strictSame(await check('bomb:1', id), failure('bomb:1', 'is too big', false));
  t.match(log.of('image.not-fetched'), [{ why: 'the disk fills' }]);
  t.notOk(await isThere(id), 'nothing of it is left');
  t.strictSame(JSON.parse(readFileSync(pulledImages, 'utf8')), []);
});

t.test('a bomb beside another pull', { skip }, async (t) => {
  // The other pull ends by its limit, if not with the bomb.
  const { registry, check, failure } = await withRegistry(t, 25_000);
  const good = await registry.offer('good', '1', { 'file.txt': { bytes: randomBytes(6) } });
  const { id } = registry.offerLayers('bomb', '1', [await bombOf(210 * MIB)]);
  const held: ServerResponse[] = [];
  const release = registry.answer(/GET \/v2\/good\/blobs/, (response) => void held.push(response));
  const first = check('good:1', good, 'good');
  await until(() => registry.requests.some((one) => one.startsWith('GET /v2/good/blobs')));
  const notNow = (name: string) => failure(name, "can't be fetched at present", true);
  t.strictSame(await check('bomb:1', id, 'bad'), notNow('bomb:1'), 'it may be either');
  t.strictSame(await first, notNow('good:1'));
  t.strictSame(
    await check('bomb:1', id, 'bad'),
    failure('bomb:1', 'is too big', false),
    'alone, it is to blame',
  );
  release();
  // The engine waits for an answer also after its pull was ended.
  for (const response of held) response.destroy();
  t.equal(await check('good:1', good, 'good'), undefined);
});

t.test('a layer of another size than the manifest says', { skip }, async (t) => {
  const { registry, check, isThere, failure, log } = await withRegistry(t);
  const layer = await layerOf({ 'file.bin': { bytes: randomBytes(48 * MIB) } });
  const { id } = registry.offerLayers('liar', '1', [{ ...layer, size: 1000 }]);
  t.strictSame(await check('liar:1', id), failure('liar:1', 'is too big', false));
  t.match(log.of('image.not-fetched'), [{ why: /more than \d+ bytes/ }]);
  t.notOk(await isThere(id));
});

t.test('a layer that becomes too big, and less than fills the disk', { skip }, async (t) => {
  const { registry, check, isThere, failure, log, pulledImages, containers } =
    await withRegistry(t);
  const { id } = registry.offerLayers('grown', '1', [await bombOf(40 * MIB)]);
  const checked = check('grown:1', id);
  const image = { image: `${registry.domain}/grown:1`, imageHash: id };
  let isOver = false;
  void checked.finally(() => {
    isOver = true;
  });
  await until(() => registry.requests.some((one) => one.includes('/blobs/')));
  while (!isOver) {
    // Another contract with this image does not get it before it is judged.
    containers.prepare(image, 1, 'other');
    await pause(20);
  }
  t.strictSame(await checked, failure('grown:1', 'is too big', false));
  t.match(log.of('image.not-fetched')[0], { why: /^\d+ bytes on the disk$/ });
  // Its own search, if it has begun one.
  containers.release(image);
  await until(() => JSON.parse(readFileSync(pulledImages, 'utf8')).length === 0);
  t.notOk(await isThere(id));
});

t.test('a disk that is almost full', { skip }, async (t) => {
  const { registry, check, failure, log } = await withRegistry(t);
  const notNow = (name: string) => failure(name, "can't be fetched at present", true);
  const file = join(await dataRoot(), 'ballast');
  t.teardown(() => rmSync(file, { force: true }));
  const { bavail, bsize } = statfsSync(await dataRoot());
  const left = contractLimits.diskFree.value + 8 * MIB;
  writeFileSync(file, Buffer.alloc(bavail * bsize - left));

  const large = await layerOf({ 'file.bin': { bytes: randomBytes(16 * MIB) } });
  const { id } = registry.offerLayers('large', '1', [large]);
  t.strictSame(await check('large:1', id), notNow('large:1'));
  t.match(log.of('image.not-fetched').at(-1), { why: 'the disk is full' });
  const blobs = () => registry.requests.filter((one) => one.includes('/blobs/')).length;
  t.equal(blobs(), 0, 'the manifest says enough');

  const small = registry.offerLayers('small', '1', [await bombOf(30 * MIB)]);
  t.strictSame(await check('small:1', small.id), notNow('small:1'), 'less than an image may have');
  t.match(log.of('image.not-fetched').at(-1), { why: 'the disk is full' });
  t.ok(blobs() > 0);
});

t.test('a disk that others fill during a pull', { skip }, async (t) => {
  const { registry, check, failure, log } = await withRegistry(t);
  const file = join(await dataRoot(), 'ballast');
  t.teardown(() => rmSync(file, { force: true }));
  const good = await registry.offer('held', '1', { 'file.txt': { bytes: randomBytes(6) } });
  const held: ServerResponse[] = [];
  registry.answer(/GET \/v2\/held\/blobs/, (response) => void held.push(response));
  const checked = check('held:1', good);
  await until(() => held.length > 0);
  writeFileSync(file, Buffer.alloc(80 * MIB));
  t.strictSame(await checked, failure('held:1', "can't be fetched at present", true));
  t.match(log.of('image.not-fetched'), [{ why: 'others fill the disk' }]);
  for (const response of held) response.destroy();
});

async function dataRoot(): Promise<string> {
  const info = await engineJson<{ DockerRootDir: string }>((own as Engine).socketPath, '/info');
  return info.DockerRootDir;
}

async function bombOf(size: number): Promise<Layer> {
  const { bytes, diffId } = await layerOf({ 'zeros.bin': { bytes: Buffer.alloc(size) } });
  return { bytes: gzipSync(bytes), diffId, type: ZIPPED_LAYER };
}
