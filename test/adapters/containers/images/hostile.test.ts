/** Authors who name registries of their own: a real engine, and a registry that does what it likes. */
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { json, text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { contractLimits } from '../../../../src/base/limits/contract-limits.ts';
import { engineCall, engineJson } from '../../../containers/api.ts';
import { type Engine, sharedEngine } from '../../../containers/engine.ts';
import { simpleFiles, simpleImage, whyNoBusybox } from '../../../containers/images.ts';
import {
  digestOf,
  INDEX,
  layerOf,
  MANIFEST,
  type RegistryAnswer,
  startRegistry,
  ZIPPED_LAYER,
} from '../../../containers/registry.ts';
import { leftOut } from '../../../left-out.ts';
import { CREATOR, called, opened, prepared, until } from '../opened.ts';

const shared = await sharedEngine();
const reason = typeof shared === 'string' ? shared : whyNoBusybox();
const skip = reason !== undefined && leftOut(reason);
const engine = shared as Engine;
const SCRIPT = '#!/bin/sh\neval "$TX"\n';
const UNKNOWN = 'f'.repeat(64);
const MIB = 1024 * 1024;

const fresh = (): string => randomBytes(6).toString('hex');
const silence: RegistryAnswer = () => {};

/** Begins an answer and never ends it. */
const trickle: RegistryAnswer = (response) => {
  response.writeHead(200, { 'content-type': MANIFEST });
  const timer = setInterval(() => response.write(' '), 20);
  response.once('close', () => clearInterval(timer));
};

const endless: RegistryAnswer = (response) => {
  response.writeHead(200, { 'content-type': MANIFEST });
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(MIB, ' '))) {}
  };
  response.on('drain', more);
  more();
};

/** A node that fetches from this registry, and its checks of images there. */
async function withRegistry(scope: Test, changes: object = {}) {
  const registry = await startRegistry(scope);
  const { domain } = registry;
  const settings = { pull: 'missing' as const, registries: [{ domain }], ...changes };
  const node = await opened(scope, engine, settings);
  const check = (name: string, hash = UNKNOWN, creator = CREATOR) =>
    node.containers.checkImage({ image: `${domain}/${name}`, imageHash: hash }, creator);
  const blobs = () => registry.requests.filter((one) => one.includes('/blobs/')).length;
  return { ...node, registry, domain, check, blobs };
}

const failure = (name: string, words: string, recoverable: boolean) => ({
  ...{ kind: 'failure', message: `Image '${name}' ${words}`, recoverable, system: true },
});

t.test('only what the operator allows is asked for', { skip }, async (t) => {
  const stranger = await startRegistry(t);
  const imageHash = await stranger.offer('team/sum', '1', simpleFiles(`${SCRIPT}#${fresh()}`));
  const name = `${stranger.domain}/team/sum:1`;
  const { containers, log } = await opened(t, engine, {
    pull: 'missing',
    registries: [{ domain: 'registry.example.org' }],
    allowedImages: [`${stranger.domain}/other/*`],
  });
  t.strictSame(
    await containers.checkImage({ image: name, imageHash }, CREATOR),
    failure(name, 'is not found', false),
  );
  t.match(await prepared(containers, { image: name, imageHash }), { kind: 'failure' });
  t.strictSame(stranger.requests, []);

  const allowed = await opened(t, engine, {
    pull: 'missing',
    allowedImages: [`${stranger.domain}/team/*`],
  });
  t.equal(await allowed.containers.checkImage({ image: name, imageHash }, CREATOR), undefined);
  await remove(imageHash);
  t.notMatch(JSON.stringify(log.all()), /image.pull"/);

  const asked = stranger.requests.length;
  const registries = [{ domain: stranger.domain }];
  const closed = await opened(t, engine, { pull: 'never', registries });
  t.strictSame(
    await closed.containers.checkImage({ image: name, imageHash }, CREATOR),
    failure(name, 'is not found', false),
  );
  t.equal(stranger.requests.length, asked, 'never is never');
});

t.test('the public status says nothing of the network', { skip }, async (t) => {
  const registries = [{ domain: '127.0.0.1:1' }];
  const { containers, log } = await opened(t, engine, { pull: 'missing', registries });
  const image = '127.0.0.1:1/sum:1';
  t.strictSame(
    await containers.checkImage({ image, imageHash: UNKNOWN }, CREATOR),
    failure(image, "can't be fetched at present", true),
  );
  t.match(log.of('image.not-fetched'), [{ image, why: /REFUSED/ }], 'the log does');
});

t.test('manifests that lie', { skip }, async (t) => {
  const { registry, check, domain, blobs } = await withRegistry(t, { imageSizeMax: 64 * MIB });
  const { manifest, id } = registry.offerLayers('sum', '1', [
    await layerOf({ 'file.txt': { bytes: fresh() } }),
  ]);
  const [layer] = manifest['layers'] as object[];
  const raw = JSON.stringify(manifest);
  const offer = (value: unknown, type?: string) => {
    const tag = fresh();
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    registry.offerManifest('sum', tag, text, type);
    return `sum:${tag}`;
  };
  const refused = async (what: string, value: unknown, words: string, hash = id) => {
    const name = offer(value);
    t.strictSame(await check(name, hash), failure(`${domain}/${name}`, words, false), what);
  };
  const unusable = 'is not usable';
  await refused('huge', { ...manifest, layers: [{ ...layer, size: 65 * MIB }] }, 'is too big');
  const many = contractLimits.layers.value + 1;
  await refused('many layers', { ...manifest, layers: Array(1000).fill(layer) }, unusable);
  await refused('one too many', { ...manifest, layers: Array(many).fill(layer) }, unusable);
  const config = { ...(manifest['config'] as object), size: 2 * MIB };
  await refused('a long configuration', { ...manifest, config }, unusable);
  await refused('negative', { ...manifest, layers: [{ ...layer, size: -1e15 }] }, unusable);
  await refused('a text', { ...manifest, layers: [{ ...layer, size: '1' }] }, unusable);
  await refused('too precise', { ...manifest, layers: [{ ...layer, size: 1e300 }] }, unusable);
  await refused('image and index', { ...manifest, manifests: [] }, unusable);
  await refused('another case', raw.replace('"layers"', '"Layers":[],"layers"'), unusable);
  await refused('long s', raw.replace('"layers"', '"layer\u017f":[],"layers"'), unusable);
  await refused('a case within', raw.replaceAll('"size"', '"Size":1,"size"'), unusable);
  await refused('schema 1', { schemaVersion: 1, fsLayers: [], history: [] }, unusable);
  await refused('elsewhere', { ...manifest, layers: [{ ...layer, urls: ['http://x'] }] }, unusable);
  await refused('no JSON', '{', unusable);
  await refused('null', 'null', unusable);
  await refused('deep', '['.repeat(200_000), unusable);
  const digest = digestOf(Buffer.from(raw));
  const platform = { os: 'linux', architecture: 'amd64' };
  const entry = { digest, mediaType: MANIFEST, size: 1, platform };
  await refused('many entries', { schemaVersion: 2, manifests: Array(999).fill(entry) }, unusable);
  const nested = registry.offerManifest(
    'sum',
    'nested',
    JSON.stringify({ schemaVersion: 2, manifests: [entry] }),
    INDEX,
  );
  await refused(
    'an index in an index',
    { schemaVersion: 2, manifests: [{ ...entry, digest: nested }] },
    unusable,
  );
  registry.answer(new RegExp(`GET /v2/sum/manifests/${digest}`), (response) => {
    response.writeHead(200, { 'content-type': MANIFEST }).end('{"schemaVersion":2}');
  });
  await refused('another digest', { schemaVersion: 2, manifests: [entry] }, unusable);
  t.equal(blobs(), 0, 'nothing was fetched');
});

t.test('registries that do not answer as they should', { skip }, async (t) => {
  const { registry, check, domain, blobs, log } = await withRegistry(t, { pullMs: 2500 });
  const notNow = (name: string) =>
    failure(`${domain}/${name}`, "can't be fetched at present", true);
  const elsewhere = await startRegistry(t);
  const answers: readonly [name: string, answer: RegistryAnswer, why: RegExp][] = [
    ['silent', silence, /time/],
    ['slow', trickle, /time/],
    ['endless', endless, /more than \d+ bytes/],
    ['broken', (response) => response.destroy(), /./],
    ['odd', (response) => void response.writeHead(500).end('x'), /status 500/],
    [
      'moved',
      (response) =>
        void response.writeHead(307, { location: `http://${elsewhere.domain}/x` }).end(),
      /status 307/,
    ],
    ...[
      'http://[::1',
      'http://user:x@127.0.0.1:1/',
      'file:///etc/passwd',
      'http://127.0.0.1:1/',
    ].map((realm): [string, RegistryAnswer, RegExp] => [
      'login',
      (response) =>
        void response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}"` }).end(),
      /login|TLS|REFUSED/,
    ]),
  ];
  for (const [name, answer, why] of answers) {
    registry.answer(new RegExp(`/v2/${name}/manifests`), answer);
    t.strictSame(await check(`${name}:1`), notNow(`${name}:1`), name);
    t.match(log.of('image.not-fetched').at(-1), { why }, name);
  }
  t.strictSame(elsewhere.requests, [], 'no redirect is followed');
  t.equal(blobs(), 0);
});

t.test('pulls that do not end', { skip }, async (t) => {
  const { registry, check, domain, log } = await withRegistry(t, { pullMs: 4000 });
  const { id } = registry.offerLayers('slow', '1', [
    await layerOf({ 'file.txt': { bytes: fresh() } }),
  ]);
  registry.answer(/GET \/v2\/slow\/blobs/, silence);
  t.strictSame(
    await check('slow:1', id),
    failure(`${domain}/slow:1`, "can't be fetched at present", true),
  );
  t.match(log.of('image.not-fetched'), [{ why: /no end in time/ }]);
});

t.test('images within the quota', { skip }, async (t) => {
  const own = await simpleImage(engine, `${SCRIPT}# of the operator\n`);
  const { registry, check, log } = await withRegistry(t, { imageQuota: 5 * MIB });
  const offer = async (name: string, mib: number) =>
    registry.offer(name, '1', { 'file.bin': { bytes: randomBytes(mib * MIB) } });
  const ids = [await offer('a', 2), await offer('b', 2), await offer('c', 2), await offer('d', 4)];
  const [a, b, c, d] = ids as [string, string, string, string];
  t.teardown(async () => {
    for (const id of ids) await remove(id);
  });
  t.equal(await check('a:1', a, 'first'), undefined);
  t.equal(await check('b:1', b, 'first'), undefined);
  t.equal(await check('c:1', c, 'second'), undefined);
  t.equal(await idOf(a), undefined, 'of the creator with most, the one used longest ago');
  t.ok((await idOf(b)) && (await idOf(c)));
  t.match(log.of('image.removed'), [{ bytes: /\d+/ }]);
  t.match(await check('d:1', d, 'third'), { recoverable: true }, 'more than the others have');
  t.ok((await idOf(b)) && (await idOf(c)), 'so nothing makes room for it');
  t.equal(await idOf(d), undefined);
  t.notOk(
    registry.requests.some((one) => one.includes('/d/blobs/')),
    'and it is not fetched either',
  );
  // Others use the engine, too, so no image is like another.
  const files = { 'name.txt': { bytes: fresh() }, 'file.bin': { bytes: Buffer.alloc(4 * MIB) } };
  const zeros = await layerOf(files);
  const e = registry.offerLayers('e', '1', [
    { ...zeros, bytes: gzipSync(zeros.bytes), type: ZIPPED_LAYER },
  ]).id;
  t.match(await check('e:1', e, 'third'), { recoverable: true }, 'more than its layer tells');
  t.ok((await idOf(b)) && (await idOf(c)), 'nothing makes room for it either');
  t.equal(await idOf(e), undefined);
  t.ok(await idOf(own.imageHash));
});

t.test('images of the operator', { skip }, async (t) => {
  const { registry, domain, check, pulledImages } = await withRegistry(t, { imageQuota: 3 * MIB });
  const files = { 'file.bin': { bytes: randomBytes(2 * MIB) } };
  const other = { 'file.bin': { bytes: randomBytes(2 * MIB) } };
  const id = await registry.offer('own', '1', files);
  await pullByHand(domain, 'own', '1');
  // The same image by another name, and another image by the name.
  await registry.offer('alias', '1', files);
  t.equal(await check('alias:1', id), undefined);
  t.notOk(existsSync(pulledImages) && JSON.parse(readFileSync(pulledImages, 'utf8')).length > 0);
  const later = await registry.offer('own', '1', other);
  t.equal(await check('own:1', later), undefined);
  t.equal(await idOf(`${domain}/own:1`), id, 'names that the operator has given stay');
  const third = await registry.offer('third', '1', { 'file.bin': { bytes: randomBytes(2 * MIB) } });
  t.equal(await check('third:1', third), undefined);
  t.equal(await idOf(later), undefined, 'what the node has fetched makes room');
  t.equal(await idOf(id), id);
  for (const one of [id, third]) await remove(one);
});

t.test('the node knows after a restart what it has fetched', { skip }, async (t) => {
  const first = await withRegistry(t, { imageQuota: 3 * MIB });
  const { registry, domain } = first;
  const offer = (name: string) =>
    registry.offer(name, '1', { 'file.bin': { bytes: randomBytes(2 * MIB) } });
  const [a, b] = [await offer('a'), await offer('b')];
  t.equal(await first.check('a:1', a), undefined);
  const copy = `${first.pulledImages}.copy`;
  copyFileSync(first.pulledImages, copy);
  await first.containers.close();
  const second = await opened(t, engine, {
    ...{ pull: 'missing', registries: [{ domain }], imageQuota: 3 * MIB, pulledImages: copy },
  });
  const image = { image: `${domain}/b:1`, imageHash: b };
  t.equal(await second.containers.checkImage(image, CREATOR), undefined);
  t.equal(await idOf(a), undefined);
  await remove(b);
});

t.test('slow pulls of one creator hold up nobody', { skip }, async (t) => {
  const registry = await startRegistry(t);
  const { domain } = registry;
  const good = await simpleImage(engine, SCRIPT);
  const { containers, label } = await opened(t, engine, {
    ...{ pull: 'missing', registries: [{ domain }], pullMs: 60_000 },
  });
  t.match(await called(containers, good, { json: 'true' }), { kind: 'success' });
  const before = await containerIds(label);
  const layer = await layerOf({ 'file.txt': { bytes: fresh() } });
  registry.answer(/GET \/v2\/slow\d+\/blobs/, silence);
  const slow = Array.from({ length: 40 }, (_, i) => ({
    image: `${domain}/slow${i}:1`,
    imageHash: registry.offerLayers(`slow${i}`, '1', [
      { ...layer, diffId: digestOf(Buffer.from(String(i))) },
    ]).id,
  }));
  for (const image of slow) containers.prepare(image, 1, 'slow');
  await until(() => registry.requests.some((one) => one.includes('/blobs/')));
  const begun = new Set(registry.requests.flatMap((one) => /slow\d+/.exec(one) ?? []));
  t.equal(begun.size, 1, 'one of a creator at a time');
  t.match(await called(containers, good, { json: 'true' }), { kind: 'success' });
  t.strictSame(await containerIds(label), before, 'its container has stayed');

  const imageHash = await registry.offer('new', '1', simpleFiles(`${SCRIPT}#${fresh()}`));
  const fetched = { image: `${domain}/new:1`, imageHash };
  t.strictSame(await prepared(containers, fetched, 1, 'good'), { kind: 'ready' });
  t.match(await called(containers, fetched, { json: 'true' }), { kind: 'success' });
  await containers.close();
  await remove(imageHash);
});

async function idOf(name: string): Promise<string | undefined> {
  const { status, body } = await engineCall(
    engine.socketPath,
    `/images/${encodeURIComponent(name)}/json`,
  );
  const { Id } = (await json(body)) as { Id?: string };
  return status === 200 ? Id?.replace('sha256:', '') : undefined;
}

async function pullByHand(domain: string, name: string, tag: string): Promise<void> {
  const path = `/images/create?fromImage=${encodeURIComponent(`${domain}/${name}`)}&tag=${tag}`;
  const { body } = await engineCall(engine.socketPath, path, { method: 'POST' });
  await text(body);
}

async function containerIds(label: string): Promise<string[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
  const rows = await engineJson<{ Id: string }[]>(
    engine.socketPath,
    `/containers/json?all=1&filters=${filters}`,
  );
  return rows.map(({ Id }) => Id);
}

async function remove(id: string): Promise<void> {
  const { body } = await engineCall(engine.socketPath, `/images/${id}?force=1`, {
    method: 'DELETE',
  });
  body.resume();
}
