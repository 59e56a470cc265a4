// Opens the store and shows the page; when the store does not open, shows what to do.
import { AsyncSqliteStore } from "perdure";
import { adviceOn, codeOfError } from "./advice.ts";
import { run } from "./app.ts";
import { byId, h, show } from "./dom.ts";
import { chosenDurability } from "./storage.ts";

async function begin(): Promise<void> {
  const durability = chosenDurability();
  let store: AsyncSqliteStore;
  try {
    store = await AsyncSqliteStore.create("orders", { durability });
  } catch (error) {
    return refuse(error);
  }
  run(store, durability);
}

function refuse(error: unknown): void {
  const { title, todo } = adviceOn(error);
  const again = (): void => {
    show(byId("board"), h("h2", { id: "board-title" }, "Opening the store…"));
    void begin();
  };
  show(
    byId("board"),
    h("h2", { id: "board-title" }, title),
    h("p", {}, todo, " ", h("code", {}, codeOfError(error))),
    h("div", { class: "buttons" }, h("button", { type: "button", class: "go", click: again }, "Try again")),
  );
}

void begin();
