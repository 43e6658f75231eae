// Icons as paths of 16 by 16 pixels.

const PATHS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M11 3v10L4 8z",
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M5 3v10l7-5z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
  theme: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm0 1.6v10.8a5.4 5.4 0 0 1 0-10.8z",
  save: "M7 1h2v7h3l-4 4-4-4h3zM2 13h12v2H2z",
  dice: "M2 2h12v12H2zm2 2v2h2V4zm6 0v2h2V4zM7 7v2h2V7zm-3 3v2h2v-2zm6 0v2h2v-2z",
  edit: "M11.5 1.5l3 3L6 13l-4 1 1-4z",
  link: "M6 4h4v1.6H6a2.4 2.4 0 0 0 0 4.8h4V12H6a4 4 0 0 1 0-8zm-.5 3.2h5v1.6h-5zM12 12v-1.6a2.4 2.4 0 0 0 0-4.8V4a4 4 0 0 1 0 8z",
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} fill-rule="evenodd" />
    </svg>
  );
}
