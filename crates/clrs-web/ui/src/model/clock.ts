// Playing: which frame is due.

export const SPEEDS = [0.5, 1, 2, 4, 8, 16, 32, 64];
export const DEFAULT_SPEED = 2;

export interface Clock {
  /** Frame when the clock was started, and when that was, in milliseconds. */
  startFrame: number;
  startTime: number;
  /** Frames per second. */
  speed: number;
}

/** The frame at a time. The last frame stays. */
export function frameAt(clock: Clock, now: number, frames: number): number {
  const passed = Math.floor(((now - clock.startTime) / 1000) * clock.speed);
  return Math.min(Math.max(clock.startFrame + Math.max(passed, 0), 0), frames - 1);
}

/** A speed that shows a run of so many frames in about twenty seconds, and short ones slowly. */
export function suitableSpeed(frames: number): number {
  const wanted = frames / 20;
  return SPEEDS.find((speed) => speed >= wanted && speed >= 1) ?? (SPEEDS[SPEEDS.length - 1] as number);
}

/** The next or previous frame of a list, or the given one if there is none. */
export function neighbor(marks: number[], frame: number, direction: 1 | -1): number {
  const sorted = [...marks].sort((a, b) => a - b);
  const found = direction > 0 ? sorted.find((mark) => mark > frame) : sorted.reverse().find((mark) => mark < frame);
  return found ?? frame;
}
