// What went wrong, at the top of the page, with what to do about it.
import { adviceOn, codeOfError } from "../advice.ts";
import { h } from "../dom.ts";

export interface Notice {
  readonly error: unknown;
  /** What failed, to be done again. */
  readonly again: () => void;
}

export function notices(all: readonly Notice[], dismiss: (notice: Notice) => void): HTMLElement[] {
  return all.map((notice) => {
    const { title, todo, remedy } = adviceOn(notice.error);
    const again = (): void => {
      dismiss(notice);
      notice.again();
    };
    return h(
      "div",
      { class: "notice" },
      h("div", {}, h("strong", {}, title), h("p", {}, todo, " ", h("code", {}, codeOfError(notice.error)))),
      h(
        "div",
        { class: "buttons" },
        remedy === "try again" ? h("button", { type: "button", class: "go", click: again }, "Try again") : null,
        remedy === "reload"
          ? h("button", { type: "button", class: "go", click: () => location.reload() }, "Reload")
          : null,
        h("button", { type: "button", click: () => dismiss(notice) }, "Dismiss"),
      ),
    );
  });
}
