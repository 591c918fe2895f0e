/**
 * Room for an image within the quota: images make room that this node has fetched and no container
 * uses. Creators share the quota, so an image makes room only for one of a creator that has no more.
 */
import type { Log } from '../../../base/ports.ts';
import type { Engine } from '../engine.ts';
import { PULLED_MAX, type PulledImage, type PulledImages } from './pulled-images.ts';

export interface RoomDeps {
  readonly engine: Pick<Engine, 'removeImage'>;
  readonly pulled: PulledImages;
  readonly log: Log;
}

/** False where there is no room for the image, which may be noted already. */
export async function makeRoom(
  wanted: PulledImage,
  { imageQuota }: { readonly imageQuota: number },
  { engine, pulled, log }: RoomDeps,
): Promise<boolean> {
  const isNoted = (): boolean => pulled.has(wanted.name, wanted.hash);
  const extra = (): number => (isNoted() ? 0 : wanted.bytes);
  const hasRoom = (): boolean =>
    pulled.bytes + extra() <= imageQuota && pulled.count + (isNoted() ? 0 : 1) <= PULLED_MAX;
  for (const image of pulled.inOrder()) {
    if (hasRoom()) break;
    if (image.hash === wanted.hash) continue;
    const isOwn = image.creator === wanted.creator;
    const hasLess = pulled.bytesOf(image.creator) < pulled.bytesOf(wanted.creator) + extra();
    if ((!isOwn && hasLess) || (await engine.removeImage(image.reference)) === 'used') continue;
    pulled.forget(image);
    log.info('image.removed', { image: image.name, bytes: image.bytes });
  }
  return hasRoom();
}
