/** A container for each call, as the engine alone can do it: create, start, wait, remove. */
import { engineCall, engineJson } from '../../test/containers/api.ts';
import type { Engine } from '../../test/containers/engine.ts';
import type { TestImage } from '../../test/containers/images.ts';
import type { Contender } from '../measure/contender.ts';

export const oneShot = ({ socketPath }: Engine, { image }: TestImage): Contender => ({
  name: 'start',
  async run(ms) {
    const begun = performance.now();
    let count = 0;
    for (; performance.now() - begun < ms; count++) {
      const { Id } = await engineJson<{ Id: string }>(socketPath, '/containers/create', {
        method: 'POST',
        body: { Image: image, Cmd: ['/run.sh'], HostConfig: { NetworkMode: 'none' } },
      });
      await engineJson(socketPath, `/containers/${Id}/start`, { method: 'POST' });
      await engineJson(socketPath, `/containers/${Id}/wait`, { method: 'POST' });
      const { body } = await engineCall(socketPath, `/containers/${Id}?force=1&v=1`, {
        method: 'DELETE',
      });
      body.resume();
    }
    return { perSecond: count / ((performance.now() - begun) / 1000) };
  },
});
