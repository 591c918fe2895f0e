/**
 * Room for an image within the quota: images make room that this node has fetched and no container
 * uses. Creators share the quota, so an image makes room only for one of a creator that has no more: of
 * bytes where these are short, of images where there are too many.
 */
import type { Log } from '../../../base/ports/log.ts';
import type { Engine } from '../engine.ts';
import {
  amountOf,
  type Measure,
  PULLED_MAX,
  type PulledImage,
  type PulledImages,
} from './pulled-images.ts';

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
  const most = { bytes: imageQuota, count: PULLED_MAX };
  const extra = (measure: Measure): number =>
    pulled.has(wanted.name, wanted.hash) ? 0 : amountOf(wanted, measure);
  const fits = (measure: Measure): boolean =>
    pulled.total(measure) + extra(measure) <= most[measure];

  function mayGo({ hash, creator }: PulledImage, measure: Measure): boolean {
    if (hash === wanted.hash) return false;
    const own = pulled.totalOf(wanted.creator, measure) + extra(measure);
    return creator === wanted.creator || pulled.totalOf(creator, measure) >= own;
  }

  // Few large images do not go where many small ones are too many.
  for (const measure of ['count', 'bytes'] as const) {
    for (const image of pulled.inOrder(measure)) {
      if (fits(measure)) break;
      if (!mayGo(image, measure)) continue;
      if ((await engine.removeImage(image.reference)) === 'used') continue;
      pulled.forget(image);
      log.info('image.removed', { image: image.name, bytes: image.bytes });
    }
  }
  return fits('count') && fits('bytes');
}
