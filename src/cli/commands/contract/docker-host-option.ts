/** The option of every command that reaches a container engine. */
import { Option } from 'commander';

export const dockerHostOption = (): Option =>
  new Option('--docker-host <url>', 'container engine')
    .env('DOCKER_HOST')
    .default('unix:///var/run/docker.sock');
