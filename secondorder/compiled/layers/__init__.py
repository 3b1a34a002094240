"""The layers in compiled form, a file a kind; windows serve convolutions and poolings."""
