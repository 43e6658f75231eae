// What runs inside the page: stepping, and checks of the picture that is drawn.

export function install() {
  const picture = () => document.querySelector("svg.picture[role=img]");
  const slider = () => document.querySelector(".scrubber input");

  /** Sends a key and waits until the page has drawn the answer. */
  const press = async (key) => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    await new Promise((resolve) => setTimeout(resolve));
  };

  /** Sends an arrow key and waits until the page has drawn the frame: a few microtasks, or a task. */
  const step = async (key, frame) => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    for (let turn = 0; Number(slider().value) !== frame; turn++) {
      if (turn > 100) {
        throw new Error(`the page shows frame ${slider().value} instead of ${frame}`);
      }
      await (turn < 10 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve)));
    }
  };

  const isVisible = (element) => {
    const { width, height } = element.getBBox();
    const d = element.getAttribute("d");
    return (width > 0 || height > 0) && d !== "" && getComputedStyle(element).opacity !== "0";
  };

  /** Names of probes that have a visible mark. */
  const drawnProbes = () => {
    const names = new Set();
    for (const group of picture().querySelectorAll("[data-probe]")) {
      const marks = group.matches("path, rect, circle, text") ? [group] : [...group.querySelectorAll("path, rect, circle, text")];
      if (marks.some(isVisible)) {
        group.getAttribute("data-probe").split(" ").forEach((name) => names.add(name));
      }
    }
    return [...names];
  };

  /**
   * Pairs of labels that cover each other: by more than 2 pixels in both directions, and by more than a fifth of the smaller. The box of
   * a text is higher than its letters, so a quarter of its height does not count.
   */
  const overlaps = () => {
    const scale = picture().getBoundingClientRect().width / picture().viewBox.baseVal.width;
    const boxes = [...picture().querySelectorAll("text")].flatMap((text) => {
      const box = text.getBoundingClientRect();
      return text.textContent && box.width > 0
        ? [{ text: text.textContent, left: box.left / scale, right: box.right / scale, top: (box.top + box.height * 0.125) / scale, bottom: (box.bottom - box.height * 0.125) / scale }]
        : [];
    });
    boxes.sort((a, b) => a.left - b.left);
    const found = [];
    for (let i = 0; i < boxes.length; i++) {
      for (let j = i + 1; j < boxes.length && boxes[j].left < boxes[i].right; j++) {
        const [a, b] = [boxes[i], boxes[j]];
        const width = Math.min(a.right, b.right) - b.left;
        const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        const area = Math.min((a.right - a.left) * (a.bottom - a.top), (b.right - b.left) * (b.bottom - b.top));
        if (width > 2 && height > 2 && width * height > 0.2 * area) {
          found.push(`${a.text} / ${b.text}`);
        }
      }
    }
    return found;
  };

  /** Labels that leave the picture. */
  const outside = () => {
    const frame = picture().getBoundingClientRect();
    return [...picture().querySelectorAll("text")].flatMap((text) => {
      const box = text.getBoundingClientRect();
      const isOut = box.left < frame.left - 3 || box.right > frame.right + 3 || box.top < frame.top - 3 || box.bottom > frame.bottom + 3;
      return text.textContent && isOut ? [text.textContent] : [];
    });
  };

  /**
   * Steps to the end and back. Checks every `every`-th frame on the way forward, and measures the time until the page is laid out again.
   */
  const walk = async (every) => {
    await press("Home");
    const frames = Number(slider().max) + 1;
    const result = { frames, times: [], probes: new Set(), overlaps: [], outside: [] };
    const check = (frame) => {
      drawnProbes().forEach((name) => result.probes.add(name));
      overlaps().forEach((pair) => result.overlaps.push(`${pair} (frame ${frame})`));
      outside().forEach((text) => result.outside.push(`${text} (frame ${frame})`));
    };
    check(0);
    for (let frame = 1; frame < frames; frame++) {
      const start = performance.now();
      await step("ArrowRight", frame);
      picture().getBoundingClientRect();
      result.times.push(performance.now() - start);
      if (frame % every === 0 || frame >= frames - 2) {
        check(frame);
      }
    }
    for (let frame = frames - 2; frame >= 0; frame--) {
      await step("ArrowLeft", frame);
    }
    return { ...result, probes: [...result.probes] };
  };

  window.inspect = { press, walk, drawnProbes, overlaps, outside };
}
